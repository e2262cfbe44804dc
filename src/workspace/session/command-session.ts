import type { HomeLocation } from '../../fuse/index.ts'
import type { FileType } from '../../vfs/index.ts'
import type { CommandLimits, HostSupport, IsolationPlan } from '../isolation/index.ts'
import type { CommandSpec } from '../policy/index.ts'
import type { CommandTerminal } from './terminal/command-terminal.ts'

/** A session in which a command of some process runs, for other processes that join it. */
export interface RunningSession {
  readonly kind: CommandSession['kind']
  /** Path of the workspace for the commands in it. */
  readonly path: string
  /** Directory of the session. */
  readonly directory: string
  /** The directory that the workspace copies. */
  readonly copyOf?: string
  /** The process that was started for the command. */
  readonly pid: number
  /** Support of this machine for isolation, as its process found it. */
  readonly support?: HostSupport
}

/** A tree that ordinary programs can use, and the changes they made. */
export interface CommandSession extends AsyncDisposable {
  readonly kind: 'overlay' | 'dir' | 'fuse'
  /** Path of the workspace for the commands that run in it. */
  readonly path: string
  /** Returns what another process needs to join it while a command runs. */
  describe(): Omit<RunningSession, 'pid' | 'support'>
  /**
   * Runs a command to its end; several calls run one after another. When it resolves, the whole process tree has ended,
   * also after a timeout or an abort. Throws ENOTSUP if this host lacks the requested isolation.
   */
  run(spec: RunSpec): Promise<RunOutcome>
  /** Returns the differences from the base after all commands so far, with staged changes, in the order of a walk. */
  changes(): Promise<readonly SessionChange[]>
}

export interface RunSpec {
  readonly command: CommandSpec
  /** Absolute path from the root of the workspace. */
  readonly cwd: string
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string>>
  /** Input of the command: bytes, or an open descriptor of this process. Empty when absent. */
  readonly stdin?: string | Uint8Array | number
  /** Terminal of a person. The command then gets a pseudo-terminal, and neither input nor output of `RunSpec`. */
  readonly terminal?: CommandTerminal
  /** 0 for no limit. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  readonly isolation: IsolationPlan
  readonly limits: CommandLimits
  /** True if the command must not change the workspace, as far as this host has namespaces. */
  readonly isReadonly?: boolean
  /** Called with the process that was started for the command. */
  onStart?(pid: number): void
  /** Receives all output, also beyond the limit. If it returns a promise, reading waits for it. */
  onOutput?(stream: 'stdout' | 'stderr', chunk: Uint8Array): unknown
  /** Reports whether output still has a reader; without one the command gets a closed pipe. */
  isHeard?(stream: 'stdout' | 'stderr'): boolean
}

/** Reason for which a command was stopped. */
export type StopReason = 'timeout' | 'abort' | 'disk' | 'memory'

export interface RunOutcome {
  /** Exit code as in a shell, 128 and more for a signal; null if the command was stopped. */
  readonly exitCode: number | null
  /** The signal that ended the command. */
  readonly signal: string | null
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  readonly durationMs: number
  readonly timedOut: boolean
  /** True if output exceeded the limit. */
  readonly truncated: boolean
  readonly stopped?: StopReason
}

/** A changed path of the workspace: its current entry, with a path to read it on this machine, or its removal. */
export type SessionChange =
  | {
      readonly kind: 'put'
      /** Absolute path from the root of the workspace. An entry of another type there is replaced as a whole. */
      readonly path: string
      readonly type: FileType
      /** Path of its content, until the next command or the end of the session. */
      readonly host: string
      readonly mode: number
      readonly mtimeNs: bigint
      readonly uid: number
      readonly gid: number
      /** Earlier path of the same file. */
      readonly linkOf?: string
    }
  | { readonly kind: 'gone'; readonly path: string }

/** An earlier change to put on top of the base before the first command. */
export type StagedChange =
  | {
      readonly kind: 'put'
      readonly path: string
      readonly type: 'file' | 'directory' | 'symlink'
      readonly mode: number
      readonly mtimeNs: bigint
      /** Applied if the user may change owners. */
      readonly uid?: number
      readonly gid?: number
      /** Target of a symbolic link. */
      readonly target?: string
      /** The bytes of a file. */
      content?(): Iterable<Uint8Array>
      /** Path of the same file, if another change puts it. */
      readonly linkOf?: string
    }
  | { readonly kind: 'gone'; readonly path: string }

/** Base of a session: a directory of this machine, which is not changed, and changes on top of it. */
export interface SessionBase {
  readonly lower: string
  readonly staged: readonly StagedChange[]
}

/** Base of a session that is served live: a vault of its own, which its commands change. */
export interface LiveBase {
  readonly home: HomeLocation
  readonly vault: string
  /** Limits its growth in bytes: beyond that, writes fail with ENOSPC. */
  limit(bytes: number): Promise<void>
  /** Returns the differences from its first state, in the order of a walk; content is below `root` on this machine. */
  changes(root: string): Promise<readonly SessionChange[]>
}

export interface SessionOptions {
  /** Directory for the files of open sessions; created if missing. */
  readonly directory: string
  /** Isolation of its commands: a copy leaves out hidden files. None when absent. */
  readonly isolation?: Pick<IsolationPlan, 'level' | 'userHome' | 'hidden'>
  readonly signal?: AbortSignal
}
