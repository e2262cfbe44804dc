import { type Appendable, type CallContext, type FileSystem, isVfsError, readText } from '../../vfs/index.ts'
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
  'exit_code' | 'duration_ms' | 'timed_out' | 'checkpoint' | 'changed_files' | 'session' | 'network'
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
  append(line: JournalLine, provenance: Pick<CallContext, 'caller' | 'trace'>): Promise<void>
}

/** An executed command with its latest event: `requested` if it runs, or was killed with its program. */
export type ExecutedCommand = JournalLine

/** A journal as files of a vault, one for each day: `/journal/2026-11-15.jsonl`. */
export class FileJournal implements ExecutionJournal {
  readonly #fs: FileSystem & Appendable

  constructor(fs: FileSystem & Appendable) {
    this.#fs = fs
  }

  /** Yields each command that ran or was refused, with its latest event; the newest first. Skips truncated lines. */
  async *read(): AsyncGenerator<ExecutedCommand> {
    if (!(await this.#fs.exists('/journal'))) return
    const days: string[] = []
    for await (const { name } of this.#fs.readdir('/journal')) if (name.endsWith('.jsonl')) days.push(name)
    // The last event of a command may be in the file of the next day.
    const reported = new Set<string>()
    for (const day of days.sort().reverse()) {
      const lines = (await readText(this.#fs, `/journal/${day}`)).split('\n').reverse()
      for (const line of lines.flatMap(parseJournalLine)) {
        if (!reported.has(line.id)) yield line
        reported.add(line.id)
      }
    }
  }

  async append(line: JournalLine, provenance: Pick<CallContext, 'caller' | 'trace'>): Promise<void> {
    const append = () =>
      this.#fs.append(`/journal/${line.time.slice(0, 10)}.jsonl`, `${JSON.stringify(line)}\n`, provenance)
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

function parseJournalLine(line: string): JournalLine[] {
  try {
    return line === '' ? [] : [JSON.parse(line)]
  } catch {
    return []
  }
}
