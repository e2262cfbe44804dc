import type { HomeLocation } from '../../fuse/index.ts'
import type { FileType } from '../../vfs/index.ts'
import type { CommandLimits, IsolationPlan } from '../isolation/index.ts'
import type { CommandSpec } from '../policy/index.ts'

/** Tree that ordinary programs can use, with the changes they made. */
export interface CommandSession extends AsyncDisposable {
  readonly kind: 'overlay' | 'dir' | 'fuse'
  /** Path of the workspace for the commands that run in it. */
  readonly path: string
  /**
   * Runs a command in it to its end, one after another if several are asked for. The whole process tree is gone when
   * it resolves, also after a timeout or an abort. ENOTSUP if the isolation that is asked for cannot be had.
   */
  run(spec: RunSpec): Promise<RunOutcome>
  /**
   * What differs from the base after all commands so far, what was staged included, in the order of a walk.
   * May be asked again after the next command.
   */
  changes(): Promise<readonly SessionChange[]>
}

export interface RunSpec {
  readonly command: CommandSpec
  /** Absolute, from the root of the workspace. */
  readonly cwd: string
  /** All of the command's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Input of the command: bytes, or an open descriptor of this process. Empty when absent. */
  readonly stdin?: string | Uint8Array | number
  /** 0 for no limit. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  readonly isolation: IsolationPlan
  readonly limits: CommandLimits
  /** The command cannot change the workspace, where namespaces can be had. */
  readonly isReadonly?: boolean
  /** Hears all output as it comes, also what is no longer kept. If it returns a promise, more is read only after that. */
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

/** One changed path below the workspace root, as it is now, with where to read it on this machine. */
export type SessionChange =
  | {
      readonly kind: 'put'
      /** Absolute, from the root of the workspace. What was there of another type is replaced, with all below it. */
      readonly path: string
      readonly type: FileType
      /** Path of its content, until the next command or the end of the session. */
      readonly host: string
      readonly mode: number
      readonly mtimeNs: bigint
      readonly uid: number
      readonly gid: number
      /** The earlier path of which it is another name. */
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
      /** Kept where the user may give files away. */
      readonly uid?: number
      readonly gid?: number
      /** Target of a symbolic link. */
      readonly target?: string
      /** The bytes of a file. */
      content?(): Iterable<Uint8Array>
      /** The path of which it is another name, if that is put as well. */
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
