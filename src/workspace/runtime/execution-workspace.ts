import type { CallContext, FileSystem, PathChange } from '../../vfs/index.ts'
import type { LiveBase, SessionBase, SessionChange, SessionKind } from '../session/index.ts'

/** Workspace of a request's commands, which also keeps their changes. */
export interface ExecutionWorkspace {
  /** Path on this machine, if it exists without a session: paths below it belong to the workspace. */
  readonly directory?: string
  /** Returns the base of a session of a kind. Disposing of it removes what it created. */
  baseline(kind: SessionKind, signal?: AbortSignal): Promise<Baseline>
  /** Takes a checkpoint of what there is before the command runs, and returns its name; null if there is nothing to lose. */
  checkpoint(): Promise<string | null>
  /** Reports whether a change can be kept; all can when absent. */
  canKeep?(change: SessionChange): boolean
  /**
   * Keeps what a session changed, again after each of its commands, and returns what the last of them did. O(changes).
   */
  collect(collected: CollectedChanges): Promise<CommandChanges>
}

/** Changes of one command, with the trees before and after it, readable until disposed of. */
export interface CommandChanges extends AsyncDisposable {
  readonly changes: readonly PathChange[]
  readonly trees: { readonly before: FileSystem; readonly after: FileSystem } | undefined
}

/** The changes of a command that made none. */
export const NO_CHANGES: CommandChanges = {
  changes: [],
  trees: undefined,
  [Symbol.asyncDispose]: async () => {},
}

/** The base that a session starts from. */
export interface Baseline extends AsyncDisposable {
  readonly session: SessionBase | LiveBase
}

/** Session changes to keep: all so far. */
export interface CollectedChanges {
  readonly changes: readonly SessionChange[]
  /** When the session began, in nanoseconds since the epoch. */
  readonly since: bigint
  readonly by: Pick<CallContext, 'caller' | 'trace'>
}
