import type { Home } from '../../backends/vault/index.ts'
import { LinkedDirectory, type Recovery } from '../../workspace/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { formatErrorLine } from '../framework/errors.ts'

const OUTCOME_TEXTS: Readonly<Record<Recovery['outcome'], string>> = {
  'taken-back': 'its changes were undone',
  finished: 'its changes were complete and are kept',
  stuck: 'its changes cannot be undone',
}

/** Completes or undoes an apply or undo that was killed in a directory with forks, and prints the outcome. */
export async function recoverLinkedDirectory(
  call: CommandInvocation,
  home: Home,
  directory: string,
): Promise<void> {
  for (const recovery of await new LinkedDirectory(home, directory).recover()) {
    const { fork, act, outcome, reason } = recovery
    const why = reason === undefined ? '' : `: ${reason}`
    const text = `an ${act} of ${fork} was killed in this directory; ${OUTCOME_TEXTS[outcome]}${why}`
    call.terminal.err.write(call.isJson ? `${JSON.stringify({ recovery })}\n` : formatErrorLine(text))
  }
}
