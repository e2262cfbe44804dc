import { type Appendable, type CallContext, type FileSystem, isVfsError } from '../../vfs/index.ts'
import type { ExecutionDecision, ExecutionRequest, ExecutionResult } from '../policy/index.ts'

/** Event of an execution, for its journal. */
export type JournalEvent =
  | { readonly event: 'requested' }
  | { readonly event: 'refused'; readonly approval: string | null }
  | { readonly event: 'failed'; readonly message: string }
  | ({ readonly event: 'completed' } & Completion)

/** Fields of a result that the journal keeps, without output. */
export type Completion = Pick<
  ExecutionResult,
  'exit_code' | 'duration_ms' | 'timed_out' | 'checkpoint' | 'changed_files' | 'session'
>

/** One line of the journal of executions. */
export type JournalLine = JournalEvent & {
  /** The same for all lines of one execution. */
  readonly id: string
  readonly time: string
  readonly vault: string
  readonly command: ExecutionRequest['command']
  readonly decision: ExecutionDecision
}

/** Journal of every request, its decision and its result. */
export interface ExecutionJournal {
  append(line: JournalLine, by: Pick<CallContext, 'caller' | 'trace'>): Promise<void>
}

/** A journal as files of a vault, one for each day: `/journal/2026-11-15.jsonl`. */
export class FileJournal implements ExecutionJournal {
  readonly #fs: FileSystem & Appendable

  constructor(fs: FileSystem & Appendable) {
    this.#fs = fs
  }

  async append(line: JournalLine, by: Pick<CallContext, 'caller' | 'trace'>): Promise<void> {
    const append = () =>
      this.#fs.append(`/journal/${line.time.slice(0, 10)}.jsonl`, `${JSON.stringify(line)}\n`, by)
    try {
      await append()
    } catch (error) {
      // The directory is missing only before the first line.
      if (!isVfsError(error, 'ENOENT')) throw error
      await this.#fs.mkdir('/journal', { parents: true })
      await append()
    }
  }
}
