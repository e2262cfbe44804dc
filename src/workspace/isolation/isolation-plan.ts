import { totalmem } from 'node:os'

/** Isolation of a command from the machine: none, as much as this host can, or all of it or no run. */
type IsolationLevel = 'none' | 'auto' | 'strict'

/** Resources outside its workspace that a command may see and reach. */
export interface IsolationPlan {
  readonly level: IsolationLevel
  /** True if the network can be reached. Without isolation it always can. */
  readonly network: boolean
  /**
   * The home directory of the user: what is secret in it is hidden, and what is written to it is thrown away. What is
   * secret in the home directory of the account, if that is another, is hidden, too.
   */
  readonly userHome?: string
  /** Further files and directories that are hidden. */
  readonly hidden?: readonly string[]
  /** With what it is done: bubblewrap where it is installed, if nothing is said. */
  readonly means?: 'bubblewrap' | 'unshare'
}

/** How much a command may use up. What is left out is not limited. */
export interface CommandLimits {
  /** How much of each of stdout and stderr is kept. */
  readonly outputBytes: number
  /** All processes together where there are control groups for it; elsewhere the data of each. */
  readonly memoryBytes?: number
  /** All processes together, on every host: looked at five times a second, and the command is ended beyond it. */
  readonly watchedMemoryBytes?: number
  readonly processes?: number
  /** What the command may write to disk: the largest file, and all changes together. */
  readonly diskBytes?: number
  /** What each private directory in memory, such as /tmp, may hold. */
  readonly scratchBytes: number
}

/** Generous to builds and tests, and far below what takes a machine down. */
export const defaultLimits: CommandLimits = {
  outputBytes: 16 * 2 ** 20,
  watchedMemoryBytes: Math.floor(totalmem() / 2),
  processes: 4096,
  diskBytes: 32 * 2 ** 30,
  scratchBytes: 2 * 2 ** 30,
}

/** Returns the limits with this one in place of theirs. One that is asked for holds in the kernel too, where it can. */
export function limitMemory(limits: CommandLimits, memory: number | 'none' | undefined): CommandLimits {
  if (memory === undefined) return limits
  const { memoryBytes: _hard, watchedMemoryBytes: _watched, ...others } = limits
  return memory === 'none' ? others : { ...others, memoryBytes: memory, watchedMemoryBytes: memory }
}

/** What every isolated command has to itself, in memory and empty at first. */
export const privateDirectories: readonly string[] = ['/tmp', '/var/tmp', '/run', '/dev/shm']

/** What root could change of the machine without any capability: read-only for every isolated command. */
export const kernelSettings: readonly string[] = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi'].map(
  (name) => `/proc/${name}`,
)

/** What root keeps of its powers: those over files, and none over the machine. */
export const keptCapabilities: readonly string[] = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'setgid',
  'setuid',
]
