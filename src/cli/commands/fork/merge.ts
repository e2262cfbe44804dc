import type { OnConflict } from '../../../backends/vault/index.ts'
import type { PerformedMerge } from '../../../workspace/index.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { findLinkedFork } from '../../access/linked-access.ts'
import { openPendingMerges } from '../../access/pending-merge.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { trace } from '../../framework/common-options.ts'
import { exitCodes } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { abortMerge, continueMerge } from './finish-merge.ts'
import { printMerged, printUndoneMerge, toPathChange } from './merge-report.ts'
import { createMergeRequest } from './merge-request.ts'
import { runMerge } from './run-merge.ts'

const conflictOptions = ['ours', 'theirs', 'markers'] as const satisfies readonly OnConflict[]
const steps = ['continue', 'abort', 'undo'] as const

export const merge: Command = defineCommand(
  {
    name: 'merge',
    summary: 'Merge a fork into its vault, or into another fork',
    details: `Text files that both sides changed are merged by lines.
If both changed the same lines, nothing is merged and the exit code is 3. Resolve the conflicts one at a time with
coppice resolve and finish with --continue, or merge again with an option for all of them.
To resolve them in the fork, merge the vault into the fork first.
Forks of one directory merge into one another; to write one to its directory use coppice apply.`,
    scope: 'home',
    options: {
      ours: { summary: 'In a conflict, keep the version of the vault' },
      theirs: { summary: 'In a conflict, take the version of the fork' },
      markers: { summary: 'In a conflict, write both versions between markers' },
      'dry-run': { summary: 'Only show what would be merged, or the conflicts' },
      continue: { summary: 'Finish the merge whose conflicts are resolved' },
      abort: { summary: 'Give up a merge that waits; nothing of it was written' },
      undo: { summary: 'Undo the last merge into the named vault or fork' },
      trace,
    },
    arguments: {
      fork: { summary: 'The fork', isOptional: true, offers: 'fork' },
      into: {
        summary: 'The vault (default: the one it was forked from)',
        isOptional: true,
        offers: 'fork',
      },
    },
    examples: [
      'coppice merge task-1',
      'coppice merge task-1 base --theirs',
      'coppice merge base task-1',
      'coppice merge fix-2 fix-1',
      'coppice merge --continue',
      'coppice merge --undo base',
    ],
  },
  (call) =>
    withHome(call, (open) => {
      const step = parseStep(call)
      const choice = { target: call.optionalArgument('fork'), command: 'merge' } as const
      if (step === 'continue') return continueMerge(call, open, choice)
      if (step === 'abort') return abortMerge(call, open, choice)
      return step === 'undo' ? undoMerge(call, open) : startMerge(call, open)
    }),
)

type MergeInvocation = CommandInvocation<
  (typeof conflictOptions)[number] | (typeof steps)[number] | 'dry-run',
  'fork' | 'into'
>

async function startMerge(call: MergeInvocation, open: OpenHome): Promise<number> {
  const onConflict = parseConflictOption(call)
  const isTrial = call.has('dry-run')
  const resumed = await createMergeRequest(open, call.argument('fork'), call.optionalArgument('into'))
  // One answer to all conflicts replaces the resolutions made so far.
  const request = onConflict === 'fail' ? resumed : { ...resumed, resolutions: new Map() }
  const print = (performed: PerformedMerge) => printMerged(call, request, performed, isTrial)
  return runMerge(call, open, request, { onConflict, isTrial, print })
}

async function undoMerge(call: MergeInvocation, open: OpenHome): Promise<number> {
  const { home, ctx } = open
  const target = call.optionalArgument('fork')
  if (target === undefined)
    throw new UsageError('name the vault or fork that was merged into: coppice merge --undo <name>')
  const { signal: _signal, ...provenance } = ctx
  const linked = await findLinkedFork(home, target)
  const changes =
    linked === undefined
      ? await home.undoMerge(target, provenance)
      : (await linked.link.undoMerge(linked.fork, provenance)).map(toPathChange)
  await printUndoneMerge(call, target, changes, await openPendingMerges(open).reopen(target))
  return exitCodes.ok
}

function parseStep(call: MergeInvocation): (typeof steps)[number] | undefined {
  const [step, second] = steps.filter((name) => call.has(name))
  const other = second ?? [...conflictOptions, 'dry-run' as const].find((name) => call.has(name))
  if (step !== undefined && other !== undefined)
    throw new UsageError(`--${step} and --${other} exclude each other; leave one out`)
  if (step !== undefined && call.optionalArgument('into') !== undefined)
    throw new UsageError(`--${step} takes one name, of the vault or fork that was merged into`)
  return step
}

function parseConflictOption(call: MergeInvocation): OnConflict {
  const [answer, second] = conflictOptions.filter((name) => call.has(name))
  if (second !== undefined)
    throw new UsageError(`--${answer} and --${second} exclude each other; leave one out`)
  return answer ?? 'fail'
}
