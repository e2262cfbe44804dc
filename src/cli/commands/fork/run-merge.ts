import type { OnConflict } from '../../../backends/vault/index.ts'
import { type PendingMerge, type PerformedMerge, performMerge } from '../../../workspace/index.ts'
import type { OpenHome } from '../../access/home-access.ts'
import { areSeveralPending, openPendingMerges } from '../../access/pending-merge.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { exitCodes, findConflicts } from '../../framework/errors.ts'
import { formatMergeConflicts } from './merge-report.ts'

export interface MergeRun {
  readonly onConflict: OnConflict
  readonly isTrial?: boolean
  /** Reports a merge without conflicts. */
  readonly print: (performed: PerformedMerge) => Promise<void>
}

/**
 * Performs a merge and returns the exit code. With conflicts, the merge waits unless it is a trial, and hints say how
 * to go on; with JSON output, throws.
 */
export async function runMerge(
  call: CommandInvocation,
  open: OpenHome,
  request: PendingMerge,
  { onConflict, isTrial = false, print }: MergeRun,
): Promise<number> {
  const merges = openPendingMerges(open)
  const texts = new Set<string>()
  const onTextConflict = (path: string) => texts.add(path)
  try {
    const options = { ...open.ctx, onConflict, isTrial, onTextConflict }
    const performed = await performMerge(open.home, request, options)
    if (!isTrial) await merges.finish(request)
    await print(performed)
    return exitCodes.ok
  } catch (error) {
    const conflicts = findConflicts(error)
    if (conflicts !== undefined && !isTrial) await merges.begin(request)
    if (conflicts === undefined || call.isJson) throw error
    const context = isTrial ? undefined : { texts, isNamed: await areSeveralPending(open) }
    call.terminal.err.write(formatMergeConflicts(request, conflicts, context))
    return exitCodes.conflict
  }
}
