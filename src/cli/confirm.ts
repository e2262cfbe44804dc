import { createInterface } from 'node:readline/promises'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** Asks before something that cannot be undone. Where nobody can be asked, `--yes` must have said it: UsageError. */
export async function confirm(terminal: Terminal, question: string, isSaid: boolean): Promise<boolean> {
  if (isSaid) return true
  if (!terminal.canAsk) throw new UsageError(`${question} Say --yes, since there is nobody to ask`)
  const dialogue = createInterface({ input: terminal.in, output: terminal.err })
  try {
    const answer = await dialogue.question(`${question} [y/N] `, { signal: terminal.signal })
    return /^y(?:es)?$/i.test(answer.trim())
  } catch (error) {
    // Whoever turns away from the question has not ended its line.
    terminal.err.write('\n')
    throw error
  } finally {
    dialogue.close()
  }
}

/** Lines of a terminal that does not say how many it has. */
const ROWS = 24

/**
 * Asks about something that is shown first, all of it. What does not fit on the screen is shown page by page: a yes
 * counts only after the last one, and anything but Enter before that is a no.
 */
export async function confirmShown(
  terminal: Terminal,
  lines: readonly string[],
  question: string,
): Promise<boolean> {
  const { err, in: input, signal } = terminal
  const rows = 'rows' in err && typeof err.rows === 'number' ? err.rows : ROWS
  const page = Math.max(4, rows - 4)
  for (let at = 0; at < lines.length; at += page) {
    err.write(`${lines.slice(at, at + page).join('\n')}\n`)
    const left = lines.length - at - page
    if (left <= 0) break
    const dialogue = createInterface({ input, output: err })
    try {
      const answer = await dialogue.question(`${left} more lines: Enter shows them, n says no `, { signal })
      if (answer.trim() !== '') return false
    } finally {
      dialogue.close()
    }
  }
  return confirm(terminal, question, false)
}

/** Puts questions to the person at the terminal, as the boundary and tools ask them; undefined if nobody is there. */
export function asker(terminal: Terminal): ((question: string) => Promise<'yes' | 'no'>) | undefined {
  if (!terminal.canAsk) return undefined
  return async (question) => ((await confirm(terminal, question, false)) ? 'yes' : 'no')
}
