import type { CallContext, FileSystem, PathChange } from '../../vfs/index.ts'
import type { LiveBase, SessionBase, SessionChange, SessionKind } from '../session/index.ts'

/** What the commands of a request run in, and what becomes of their changes. */
export interface ExecutionWorkspace {
  /** Where it is on this machine, if it is there without a session: paths below it are its own. */
  readonly directory?: string
  /** What a session of a kind starts from. What it makes for that is gone when it is disposed of. */
  baseline(kind: SessionKind, signal?: AbortSignal): Promise<Baseline>
  /** Takes a checkpoint of what there is before the command runs, and returns its name; null if there is nothing to lose. */
  checkpoint(): Promise<string | null>
  /** Whether a change can be kept; all can when absent. */
  canKeep?(change: SessionChange): boolean
  /**
   * Keeps what a session changed, again after each of its commands, and returns what the last of them did. O(changes).
   */
  collect(collected: CollectedChanges): Promise<CommandChanges>
}

/** What one command changed, and the trees before and after it, which can be read until this is disposed of. */
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

export interface Baseline extends AsyncDisposable {
  readonly session: SessionBase | LiveBase
}

/** What is to be kept of a session: all it has changed so far. */
export interface CollectedChanges {
  readonly changes: readonly SessionChange[]
  /** When the session began, in nanoseconds since the epoch. */
  readonly since: bigint
  readonly by: Pick<CallContext, 'caller' | 'trace'>
}
