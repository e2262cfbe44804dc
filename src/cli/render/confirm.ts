import { createInterface } from 'node:readline/promises'
import type { Terminal } from '../framework/terminal.ts'
import { UsageError } from '../framework/usage-error.ts'
import { getDisplayWidth } from './table.ts'

/** Asks before an irreversible step, unless `--yes` confirmed it. Throws UsageError if there is no terminal to ask at. */
export async function confirm(terminal: Terminal, question: string, isConfirmed: boolean): Promise<boolean> {
  if (isConfirmed) return true
  if (!terminal.canAsk) throw new UsageError(`${question} There is no terminal to ask on; use --yes`)
  return /^y(?:es)?$/i.test(await promptLine(terminal, `${question} [y/N] `))
}

/** Asks for one of several words, or their first letters. Returns undefined for any other answer. */
export async function promptChoice<Choice extends string>(
  terminal: Terminal,
  question: string,
  choices: readonly Choice[],
): Promise<Choice | undefined> {
  const answer = (await promptLine(terminal, `${question} [${choices.join('/')}/No] `)).toLowerCase()
  return answer === '' ? undefined : choices.find((choice) => choice === answer || choice[0] === answer)
}

async function promptLine({ in: input, err, signal }: Terminal, question: string): Promise<string> {
  const dialogue = createInterface({ input, output: err })
  try {
    return (await dialogue.question(question, { signal })).trim()
  } catch (error) {
    // An aborted question leaves its line unfinished.
    err.write('\n')
    throw error
  } finally {
    dialogue.close()
  }
}

/** Size of a terminal that does not report one. */
const [DEFAULT_ROWS, DEFAULT_COLUMNS] = [24, 80]
/** Rows kept free for the question below a page. */
const FREE_ROWS = 4
const MIN_ROWS = 4

/**
 * Shows lines and asks about them. Lines that do not fit on the screen appear page by page. A yes counts only after
 * the last page, and before that any input but Enter means no.
 */
export async function confirmAfterShowing(
  terminal: Terminal,
  lines: readonly string[],
  question: string,
): Promise<boolean> {
  let remaining = lines.length
  for (const page of splitPages(terminal, lines)) {
    terminal.err.write(`${page.join('\n')}\n`)
    remaining -= page.length
    if (remaining === 0) break
    const hint = `${remaining} more lines: Enter shows them, n declines `
    if ((await promptLine(terminal, hint)) !== '') return false
  }
  return confirm(terminal, question, false)
}

/** Splits lines into pages that fit on the screen, with wrapped lines counted. */
function splitPages({ err }: Terminal, lines: readonly string[]): string[][] {
  const [rows, columns] = [
    getDimension(err, 'rows') ?? DEFAULT_ROWS,
    getDimension(err, 'columns') ?? DEFAULT_COLUMNS,
  ]
  const room = Math.max(MIN_ROWS, rows - FREE_ROWS)
  const pages: string[][] = []
  let used = room
  for (const line of lines) {
    const taken = Math.max(1, Math.ceil(getDisplayWidth(line) / columns))
    if (used + taken > room) {
      pages.push([])
      used = 0
    }
    pages.at(-1)?.push(line)
    used += taken
  }
  return pages
}

function getDimension(output: object, side: 'rows' | 'columns'): number | undefined {
  const size: unknown = Reflect.get(output, side)
  return typeof size === 'number' && size > 0 ? size : undefined
}

/**
 * Creates the prompt by which a tool asks the person; undefined without a terminal. The first line of its text is the
 * question, and appears last; the lines below it are what the question is about.
 */
export function createPrompt(
  terminal: Terminal,
): ((question: string, withdrawn?: AbortSignal) => Promise<'yes' | 'no'>) | undefined {
  if (!terminal.canAsk) return undefined
  return async (text, withdrawn = terminal.signal) => {
    const [question = '', ...lines] = text.split('\n')
    return (await confirmAfterShowing(withSignal(terminal, withdrawn), lines, question)) ? 'yes' : 'no'
  }
}

/** Returns the terminal with questions that also end with this signal. */
export function withSignal(terminal: Terminal, signal: AbortSignal): Terminal {
  return { ...terminal, signal: AbortSignal.any([terminal.signal, signal]) }
}
