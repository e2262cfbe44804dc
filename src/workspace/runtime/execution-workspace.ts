import type { CallContext, FileSystem, PathChange } from '../../vfs/index.ts'
import type { LiveBase, SessionBase, SessionChange, SessionKind } from '../session/index.ts'

/** Workspace of a request's commands, which also keeps their changes. */
export interface ExecutionWorkspace {
  /** Path on this machine, if it exists without a session: paths below it belong to the workspace. */
  readonly directory?: string
  /** Returns the base for a kind of session. Disposing it removes what it created. */
  baseline(kind: SessionKind, signal?: AbortSignal): Promise<Baseline>
  /**
   * Takes a checkpoint before the command runs, and returns its name; null if the command cannot change anything that
   * exists.
   */
  checkpoint(): Promise<string | null>
  /** Reports whether a change can be kept; all can when absent. */
  canKeep?(change: SessionChange): boolean
  /**
   * Stores the session's changes, again after each command, and returns the changes of the last command. O(changes).
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
  /** Start of the session, in nanoseconds since the epoch. */
  readonly since: bigint
  readonly by: Pick<CallContext, 'caller' | 'trace'>
}
