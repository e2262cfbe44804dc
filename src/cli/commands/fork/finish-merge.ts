import { LinkedDirectory, performMerge } from '../../../workspace/index.ts'
import type { OpenHome } from '../../access/home-access.ts'
import {
  areSeveralPending,
  describeMerge,
  type MergeChoice,
  openPendingMerges,
  requirePendingMerge,
} from '../../access/pending-merge.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { exitCodes, findConflicts } from '../../framework/errors.ts'
import { describeApplied, printApplied } from './apply-report.ts'
import { printMerged } from './merge-report.ts'
import { formatOpenConflicts } from './pending-conflicts.ts'

/**
 * Performs a pending merge with its resolutions, and ends it. If a conflict is open, writes nothing and returns exit
 * code 3; with JSON output, throws.
 */
export async function continueMerge(
  call: CommandInvocation,
  open: OpenHome,
  choice: MergeChoice,
): Promise<number> {
  const merge = await requirePendingMerge(open, choice)
  const texts = new Set<string>()
  const onTextConflict = (path: string) => texts.add(path)
  try {
    const performed = await performMerge(open.home, merge, { ...open.ctx, onTextConflict })
    await openPendingMerges(open).finish(merge)
    if (performed.kind === 'apply') {
      const link = new LinkedDirectory(open.home, merge.target)
      const forks = await Promise.all(merge.sources.map((name) => link.getFork(name)))
      await printApplied(call, await describeApplied(link, forks, performed.changes))
    } else await printMerged(call, merge, performed, false)
    return exitCodes.ok
  } catch (error) {
    const conflicts = findConflicts(error)
    if (conflicts === undefined || call.isJson) throw error
    const context = { texts, isNamed: await areSeveralPending(open) }
    const listed = formatOpenConflicts(merge, conflicts, context)
    call.terminal.err.write(`coppice: nothing was written; ${listed}`)
    return exitCodes.conflict
  }
}

/** Ends a pending merge and its resolutions. Nothing of it was written. */
export async function abortMerge(
  call: CommandInvocation,
  open: OpenHome,
  choice: MergeChoice,
): Promise<number> {
  const merge = await requirePendingMerge(open, choice)
  await openPendingMerges(open).end(merge.target)
  const { sources, target: into } = merge
  await call.output.writeValue(
    { sources, into, aborted: true },
    `gave up the merge of ${describeMerge(merge)}; nothing was written`,
  )
  return exitCodes.ok
}
