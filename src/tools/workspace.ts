import type { CallContext, PathChange } from '../vfs/index.ts'

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

/** A command for a workspace: a program with its arguments, or a line for a shell. */
export interface WorkspaceCommand {
  readonly command: { readonly argv: readonly string[] } | { readonly shell: string }
  /** Absolute, from the root of the workspace. */
  readonly cwd: string
  readonly stdin?: string | undefined
  readonly timeoutMs: number
  /** It is to reach the network. */
  readonly network: boolean
}

/** How a command is run: by whom, who hears what it writes, and who is asked if it may not run unasked. */
export interface CommandCall {
  readonly ctx: CallContext
  readonly ask?: AskPerson | undefined
  onOutput?(chunk: Uint8Array): void
}

/**
 * What came of asking a person: a yes, a no, that they turned away from the question, nothing in time, or that the
 * question is too long to be shown whole.
 */
export type PersonAnswer = 'yes' | 'no' | 'dismissed' | 'unanswered' | 'too_long'

/** Puts a question to a person. */
export type AskPerson = (question: string) => Promise<PersonAnswer>

/** What came of a command. */
export interface CommandReport {
  /** As a shell tells it; null if the command was stopped. */
  readonly exitCode: number | null
  readonly isTimedOut: boolean
  readonly stdout: string
  readonly stderr: string
  /** What it changed in the workspace. */
  readonly changes: readonly PathChange[]
  /** What it made that a workspace cannot keep. */
  readonly leftOut: readonly string[]
  /** What there was before them; null if there is nothing to go back to. */
  readonly checkpoint: string | null
  /** The fork that has the changes, where the workspace changed meanwhile and could not take them. */
  readonly unmerged: string | null
  /** It could reach the network; false when absent. */
  readonly isNetworked?: boolean
  /** It wrote more than was kept; false when absent. */
  readonly isTruncated?: boolean
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
  diff(since?: string): AsyncIterable<PathChange>
  /** The same as unified text. */
  patch(since?: string): AsyncIterable<string>
  restore(name: string, ctx: CallContext): Promise<void>
  /** Brings what a fork changed into this workspace. ECONFLICT. */
  merge(
    fork: string,
    onConflict: 'fail' | 'ours' | 'theirs' | 'markers',
    ctx: CallContext,
  ): Promise<readonly PathChange[]>
  log(limit: number): AsyncIterable<LogEntry>
  /**
   * Runs a command in it, through the execution boundary. EACCES if policy or the person who is asked says no.
   * Absent where commands are not to be run.
   */
  readonly exec?: (command: WorkspaceCommand, call: CommandCall) => Promise<CommandReport>
}
