import type { DaemonClient, DaemonMethods } from '../../../daemon/client/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import type { HintTarget } from '../../framework/hint.ts'
import { formatCount } from '../../render/format-values.ts'
import type { ProcessInfo } from '../../render/process-format.ts'
import { formatTable } from '../../render/table.ts'
import { formatNextSteps } from './process-follower.ts'

type Check = DaemonMethods['check']['result']

/** Length of the result that a row shows. */
const RESULT_COLUMN = 60

/** A process that tried the task, and the evidence for it. */
interface Attempt {
  readonly process: ProcessInfo
  /** Absent without a check, or if the process failed. */
  readonly check: Check | undefined
}

/**
 * Runs several processes with the same task in parallel, each in its own fork, and compares them: those that end well
 * and pass the check come first, the cheapest before the others. Returns 1 if none does.
 */
export async function spawnSeveral(
  call: CommandInvocation,
  client: DaemonClient,
  params: DaemonMethods['spawn']['params'],
  { count, check }: { readonly count: number; readonly check: string | undefined },
): Promise<number> {
  const { terminal, output } = call
  const attempts = await Promise.all(
    Array.from({ length: count }, async (): Promise<Attempt> => {
      const { pid } = await client.call('spawn', params, terminal.signal)
      const process = await client.call('wait', { pid }, terminal.signal)
      if (terminal.showsProgress)
        terminal.err.write(`process ${pid} ended with exit code ${process.exit_code}\n`)
      const isChecked = check !== undefined && process.exit_code === 0
      return {
        process,
        check: isChecked ? await client.call('check', { pid, command: check }, terminal.signal) : undefined,
      }
    }),
  )
  const ranked = attempts.toSorted(compareAttempts)
  const best = ranked.find((attempt) => hasPassed(attempt, check))?.process
  await output.writeValue(
    { best: best?.fork ?? null, attempts: ranked },
    [...formatTable(ranked.map(toRow)), formatBest(call, best)].join('\n'),
  )
  return best === undefined ? 1 : 0
}

function formatBest(target: HintTarget, best: ProcessInfo | undefined): string {
  if (best === undefined) return 'none passed'
  const { pid, fork } = best
  return fork === null ? `best: process ${pid}` : `best: ${fork}; ${formatNextSteps(target, fork, best)}`
}

function hasPassed({ process, check }: Attempt, checkCommand: string | undefined): boolean {
  return process.exit_code === 0 && (checkCommand === undefined || check?.exit_code === 0)
}

function compareAttempts(one: Attempt, other: Attempt): number {
  return rank(one) - rank(other) || one.process.tokens_used - other.process.tokens_used
}

function rank({ process, check }: Attempt): number {
  if (process.exit_code !== 0) return 2
  return check === undefined || check.exit_code === 0 ? 0 : 1
}

function toRow({ process, check }: Attempt): string[] {
  const { pid, fork, exit_code, step, tokens_used, result, reason } = process
  const checked = check === undefined ? '-' : check.timed_out ? 'check timed out' : `check ${check.exit_code}`
  return [
    String(pid),
    fork ?? '-',
    `exit ${exit_code}`,
    checked,
    formatCount(step, 'step'),
    formatCount(tokens_used, 'token'),
    check === undefined ? '-' : formatCount(check.changes, 'change'),
    escapeName((exit_code === 0 ? result : reason).split('\n')[0] ?? '').slice(0, RESULT_COLUMN),
  ]
}
