import type { HomeLocation } from '../../fuse/index.ts'
import type { FileType } from '../../vfs/index.ts'
import type { CommandLimits, HostSupport, IsolationPlan } from '../isolation/index.ts'
import type { CommandSpec } from '../policy/index.ts'
import type { CommandTerminal } from './terminal/command-terminal.ts'

/** A session of any process in which a command runs now, with what another process needs to join it. */
export interface RunningSession {
  readonly kind: CommandSession['kind']
  /** Path at which commands see the workspace. */
  readonly path: string
  /** Directory with the files of the session. */
  readonly directory: string
  /** The directory that the workspace is a copy of; absent if it is no copy. */
  readonly copyOf?: string
  /** Form of its files, for reading them after a kill; absent if they do not show its changes. */
  readonly files?: SessionFiles
  /** The process of the command, whose namespaces are joined. */
  readonly pid: number
  /** Support of this machine for isolation, as the session's process has found out. */
  readonly support?: HostSupport
}

/** Form of the files of a session, for the process that reads them after a kill of this one. */
export type SessionFiles =
  | {
      readonly kind: 'overlay'
      readonly privilege: 'root' | 'user'
      /** Source that `mount` shows, different for each session. */
      readonly source: string
    }
  | { readonly kind: 'dir' }
  /** The changes are in the vault that the session serves. */
  | { readonly kind: 'fuse' }

/** A workspace for ordinary programs. Runs commands in it and reports their changes. */
export interface CommandSession extends AsyncDisposable {
  readonly kind: 'overlay' | 'dir' | 'fuse'
  /** Path at which commands see the workspace. */
  readonly path: string
  /** Returns what another process needs to join it while a command runs. */
  describe(): Omit<RunningSession, 'pid' | 'support'>
  /**
   * Runs a command to its end; several calls run one after another. When it resolves, the whole process tree has ended,
   * also after a timeout or an abort. Throws ENOTSUP if this host lacks the requested isolation.
   */
  run(spec: RunSpec): Promise<RunOutcome>
  /**
   * Returns what differs from the base now, staged changes included, parents before children. Nothing for a joined
   * session: the process that opened it reports its changes.
   */
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
  /** Terminal of a person. The command then gets a pseudo-terminal; `stdin`, `onOutput` and `isHeard` are not used. */
  readonly terminal?: CommandTerminal
  /** 0 for no limit. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  readonly isolation: IsolationPlan
  readonly limits: CommandLimits
  /** True if the command must not change the workspace. Enforced only on a host that has namespaces. */
  readonly isReadonly?: boolean
  /** Called with the process that was started for the command. */
  onStart?(pid: number): void
  /** Called while the programs around the command start. The command begins when it resolves, and not if it rejects. */
  beforeCommand?(): Promise<void>
  /** Receives all output, also what `RunOutcome` leaves out. If it returns a promise, reading waits for it. */
  onOutput?(stream: 'stdout' | 'stderr', chunk: Uint8Array): unknown
  /** Reports whether output still has a reader; without one the command gets a closed pipe. */
  isHeard?(stream: 'stdout' | 'stderr'): boolean
}

/** Reason for stopping a command. */
export type StopReason = 'timeout' | 'abort' | 'disk' | 'memory'

export interface RunOutcome {
  /** Exit code as in a shell, 128 plus the number of a signal; null if the command was stopped. */
  readonly exitCode: number | null
  /** The signal that ended the command. */
  readonly signal: string | null
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** The last output of a command in a terminal, to explain its failure. Not for records. */
  readonly lastOutput?: Uint8Array
  readonly durationMs: number
  readonly timedOut: boolean
  /** True if output exceeded the limit. */
  readonly truncated: boolean
  readonly stopped?: StopReason
}

/** A changed path of the workspace: what is there now (`put`), or that nothing is (`gone`). */
export type SessionChange =
  | {
      readonly kind: 'put'
      /** Absolute path from the root of the workspace. If the type changed, the old entry goes with all that is below it. */
      readonly path: string
      readonly type: FileType
      /** Path on this machine to read it from, until the next command or the end of the session. */
      readonly host: string
      readonly mode: number
      readonly mtimeNs: bigint
      readonly uid: number
      readonly gid: number
      /** Path in an earlier change that this is a hard link of. */
      readonly linkOf?: string
    }
  | { readonly kind: 'gone'; readonly path: string }

/** A change from before the session, to put on top of the base before the first command. */
export type StagedChange =
  | {
      readonly kind: 'put'
      readonly path: string
      readonly type: 'file' | 'directory' | 'symlink'
      readonly mode: number
      readonly mtimeNs: bigint
      /** Owner; applied if the user may change owners. */
      readonly uid?: number
      readonly gid?: number
      /** Target of a symbolic link. */
      readonly target?: string
      /** The bytes of a file. */
      content?(): Iterable<Uint8Array>
      /** Path of another staged change that this is a hard link of. */
      readonly linkOf?: string
    }
  | { readonly kind: 'gone'; readonly path: string }

/** Base of a session: a directory of this machine (`lower`), which is not changed, and changes on top of it. */
export interface SessionBase {
  readonly lower: string
  readonly staged: readonly StagedChange[]
}

/** Base of a FUSE session: a vault of its own, which its commands change directly. */
export interface LiveBase {
  readonly home: HomeLocation
  readonly vault: string
  /** Limits its growth in bytes: beyond that, writes fail with ENOSPC. */
  limit(bytes: number): Promise<void>
  /** Returns the differences from its first state, parents before children. `root` is where the vault is mounted. */
  changes(root: string): Promise<readonly SessionChange[]>
}

export interface SessionOptions {
  /** Directory for the files of open sessions; created if missing. */
  readonly directory: string
  /** Isolation of the commands; none when absent. A copied workspace leaves out the hidden files. */
  readonly isolation?: Pick<IsolationPlan, 'level' | 'userHome' | 'hidden'>
  readonly signal?: AbortSignal
}
