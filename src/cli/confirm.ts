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

/** Puts questions to the person at the terminal, as the boundary and tools ask them; undefined if nobody is there. */
export function asker(terminal: Terminal): ((question: string) => Promise<'yes' | 'no'>) | undefined {
  if (!terminal.canAsk) return undefined
  return async (question) => ((await confirm(terminal, question, false)) ? 'yes' : 'no')
}
