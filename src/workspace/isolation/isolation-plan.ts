import type { ChildProcess } from 'node:child_process'
import { totalmem } from 'node:os'
import type { VisiblePath } from './visible-paths.ts'

/** `none` isolates nothing, `auto` as much as this host can. `strict` isolates fully or refuses to run. */
type IsolationLevel = 'none' | 'auto' | 'strict'

/** Resources outside its workspace that a command may see and reach. */
export interface IsolationPlan {
  readonly level: IsolationLevel
  /** True if the command may reach the network. Without isolation it always can. */
  readonly network: boolean
  /**
   * A program to run on the loopback of the command before it begins. The command has a network of its own then, with
   * nothing but the loopback. Ignored without isolation.
   */
  readonly listener?: LoopbackListener
  /**
   * The user's home directory. Secrets in it are hidden, and changes to it are discarded. Secrets in the account's
   * home directory are hidden too, if that is another one.
   */
  readonly userHome?: string
  /** More files and directories to hide. */
  readonly hidden?: readonly string[]
  /** Files to hide at their own paths only, and not in a copy of the workspace. */
  readonly hiddenOutside?: readonly string[]
  /** Paths of the user's home that the command sees although they may hold secrets. */
  readonly visible?: readonly VisiblePath[]
  /** Sockets in the private directories, such as that of an SSH agent, that the command can connect to. */
  readonly sockets?: readonly string[]
  /** Files in the private directories that the command can read. */
  readonly files?: readonly string[]
  /** Directory that keeps the command's own copies of visible paths. They are discarded when absent. */
  readonly copies?: string
  /** The program that confines. Default: bubblewrap where it works. */
  readonly means?: 'bubblewrap' | 'unshare'
}

/** A program that listens in the network of a command for this process. */
export interface LoopbackListener {
  readonly argv: readonly string[]
  /** Ports on which it listens. */
  readonly ports: readonly number[]
  /** Takes the process that has a channel of Node (`ipc`) to the program. */
  attach(child: ChildProcess): void
}

/** Limits on the resources of a command. A limit left out does not apply. */
export interface CommandLimits {
  /** Bytes kept of each of stdout and stderr. */
  readonly outputBytes: number
  /** Memory of all processes together where the host has control groups, otherwise of each process. */
  readonly memoryBytes?: number
  /**
   * Memory of all processes together, on every host. It is sampled five times a second; a command over the limit is
   * killed.
   */
  readonly watchedMemoryBytes?: number
  readonly processes?: number
  /** Bytes the command may write: the size of its largest file, and of all its changes together. */
  readonly diskBytes?: number
  /** Size of each private directory in memory, such as /tmp. */
  readonly scratchBytes: number
}

/** Limits generous enough for builds and tests, and low enough to keep the machine responsive. */
export const defaultLimits: CommandLimits = {
  outputBytes: 16 * 2 ** 20,
  watchedMemoryBytes: Math.floor(totalmem() / 2),
  processes: 4096,
  diskBytes: 32 * 2 ** 30,
  scratchBytes: 2 * 2 ** 30,
}

/** Returns the limits with another memory limit, which the kernel enforces too where it can. `'none'` removes it. */
export function limitMemory(limits: CommandLimits, memory: number | 'none' | undefined): CommandLimits {
  if (memory === undefined) return limits
  const { memoryBytes: _hard, watchedMemoryBytes: _watched, ...others } = limits
  return memory === 'none' ? others : { ...others, memoryBytes: memory, watchedMemoryBytes: memory }
}

/** Directories that each isolated command gets empty and in memory. */
export const privateDirectories: readonly string[] = ['/tmp', '/var/tmp', '/run', '/dev/shm']

/** Kernel settings that root could change without any capability. They are read-only for an isolated command. */
export const kernelSettings: readonly string[] = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi'].map(
  (name) => `/proc/${name}`,
)

/** Capabilities that root keeps in an isolated command: those over files and processes, none over the machine. */
export const keptCapabilities: readonly string[] = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'setgid',
  'setuid',
]
