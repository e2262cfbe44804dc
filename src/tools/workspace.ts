import type { CallContext, Change } from '../vfs/index.ts'

/** A checkpoint or fork as a tool names it. */
export interface NamedPoint {
  readonly name: string
  readonly time: Date
}

/** One mutation of the workspace's past, the newest first. */
export interface LogEntry {
  readonly seq: number
  readonly time: Date
  readonly caller: string | undefined
  readonly op: string
  readonly path: string
}

/** What the `workspace_*` tools need of the workspace a caller works in. */
export interface Workspace {
  /** The vault it is. */
  readonly name: string
  /** Where its files are in the namespace: `/workspace`. */
  readonly path: string
  fork(name: string, at?: string): Promise<NamedPoint>
  checkpoint(name: string, ctx: CallContext): Promise<NamedPoint>
  checkpoints(): Promise<readonly NamedPoint[]>
  /** Changes since a checkpoint, or since the fork or the beginning. */
  diff(since?: string): AsyncIterable<Change>
  /** The same as unified text. */
  patch(since?: string): AsyncIterable<string>
  restore(name: string, ctx: CallContext): Promise<void>
  /** Brings what a fork changed into this workspace. ECONFLICT. */
  merge(
    fork: string,
    onConflict: 'fail' | 'ours' | 'theirs' | 'markers',
    ctx: CallContext,
  ): Promise<readonly Change[]>
  log(limit: number): AsyncIterable<LogEntry>
}
