import type { CallContext, CollapsedDirectory, PathChange } from '../vfs/index.ts'

/** A checkpoint or fork, as a tool names it. */
export interface NamedPoint {
  readonly name: string
  readonly time: Date
}

/** One mutation in the workspace's history. */
export interface LogEntry {
  readonly seq: number
  readonly time: Date
  readonly caller: string | undefined
  readonly op: string
  readonly path: string
}

/** A command: a program with its arguments, or a shell line. */
export interface WorkspaceCommand {
  readonly command: { readonly argv: readonly string[] } | { readonly shell: string }
  /** Absolute, from the root of the workspace. */
  readonly cwd: string
  readonly stdin?: string | undefined
  readonly timeoutMs: number
  /** True if it may reach the network. */
  readonly network: boolean
  /** Hosts that it asks for, in place of the whole network. */
  readonly hosts?: readonly string[] | undefined
}

/** Context of a command: the caller, the output listener, and the prompt for confirmation. */
export interface CommandCall {
  readonly ctx: CallContext
  readonly ask?: AskPerson | undefined
  onOutput?(chunk: Uint8Array): void
}

/**
 * Response of a person: yes, no, dismissed, no response in time, or the
 * question was too long to show in full.
 */
export type PersonAnswer = 'yes' | 'no' | 'dismissed' | 'unanswered' | 'too_long'

/** Asks a person. The signal withdraws the question, which was decided elsewhere; the promise may then reject. */
export type AskPerson = (question: string, signal?: AbortSignal) => Promise<PersonAnswer>

/** Result of a command. */
export interface CommandReport {
  /** Exit code as in a shell; null if the command was stopped. */
  readonly exitCode: number | null
  readonly isTimedOut: boolean
  readonly stdout: string
  readonly stderr: string
  /** Changes it made in the workspace, without those that the next two stand for. */
  readonly changes: readonly PathChange[]
  /** Directories that stand for the changes of many files; none when absent. */
  readonly directories?: readonly CollapsedDirectory[]
  /** Description of what git changed of its own files, such as `2 commits on feat`; nothing when absent. */
  readonly git?: string | undefined
  /** Files it created that a workspace cannot store. */
  readonly leftOut: readonly string[]
  /** Checkpoint from before the changes; null if there is none. */
  readonly checkpoint: string | null
  /** Fork with the changes, if a concurrent change of the workspace prevented the merge. */
  readonly unmerged: string | null
  /** Paths whose concurrent changes it replaced, and the checkpoint that has them; none when absent. */
  readonly overwritten?: { readonly paths: readonly string[]; readonly checkpoint: string } | undefined
  /** True if it could reach the network; false when absent. */
  readonly isNetworked?: boolean
  /** True if its output exceeded the limit; false when absent. */
  readonly isTruncated?: boolean
}

/** The workspace of a caller, for the `workspace_*` tools. */
export interface Workspace {
  /** Name of its vault. */
  readonly name: string
  /** Path of its files in the namespace: `/workspace`. */
  readonly path: string
  /** The directory of this machine that it is a fork of; absent for a vault. Commands see it at this path. */
  readonly directory?: string | undefined
  fork(name: string, at?: string): Promise<NamedPoint>
  checkpoint(name: string, ctx: CallContext): Promise<NamedPoint>
  checkpoints(): Promise<readonly NamedPoint[]>
  /** Lists changes since a checkpoint, or since the fork or the beginning. */
  diff(since?: string): AsyncIterable<PathChange>
  /** Lists the changes as unified diffs. */
  patch(since?: string): AsyncIterable<string>
  restore(name: string, ctx: CallContext): Promise<void>
  /**
   * Merges the changes of a fork into this workspace. ECONFLICT if both changed the same lines and `onConflict` is
   * `fail`.
   */
  merge(
    fork: string,
    onConflict: 'fail' | 'ours' | 'theirs' | 'markers',
    ctx: CallContext,
  ): Promise<readonly PathChange[]>
  /** Lists the last mutations, newest first. */
  log(limit: number): AsyncIterable<LogEntry>
  /**
   * Runs a command through the execution boundary. EACCES if policy or the person refuses.
   * Absent if commands are not available.
   */
  readonly exec?: (command: WorkspaceCommand, call: CommandCall) => Promise<CommandReport>
}
