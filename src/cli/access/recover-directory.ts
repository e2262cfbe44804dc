import { realpathSync } from 'node:fs'
import { type Home, isMirrorFor, isMirrorName } from '../../backends/vault/index.ts'
import type { Recovery } from '../../workspace/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { formatErrorLine } from '../framework/errors.ts'

const OUTCOME_TEXTS: Readonly<Record<Recovery['outcome'], string>> = {
  'taken-back': 'its changes were undone',
  finished: 'its changes were complete and are kept',
  stuck: 'its changes cannot be undone',
}

/** Completes or undoes an apply or undo that was killed in the working directory, and prints the outcome. */
export async function recoverDirectory(call: CommandInvocation, home: Home): Promise<void> {
  // A read-only home cannot record the outcome.
  if (home.isReadOnly) return
  const directory = findWorkingDirectory()
  const mirrors = (await home.vaults()).filter(isMirrorName)
  if (directory === undefined || !mirrors.some((name) => isMirrorFor(name, directory))) return
  const { LinkedDirectory } = await import('../../workspace/index.ts')
  for (const recovery of await new LinkedDirectory(home, directory).recover()) {
    const { fork, act, outcome, reason } = recovery
    const why = reason === undefined ? '' : `: ${reason}`
    const text = `an ${act} of ${fork} was killed in this directory; ${OUTCOME_TEXTS[outcome]}${why}`
    call.terminal.err.write(call.isJson ? `${JSON.stringify({ recovery })}\n` : formatErrorLine(text))
  }
}

/** Undefined if the working directory was deleted. The command itself reports that if it needs one. */
function findWorkingDirectory(): string | undefined {
  try {
    return realpathSync(process.cwd())
  } catch {
    return undefined
  }
}
