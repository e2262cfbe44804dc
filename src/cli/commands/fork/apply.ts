import {
  type ApplyContext,
  ApplyError,
  type ChangeSelection,
  type LinkedDirectory,
  type LinkedFork,
  type PendingMerge,
  type TreeChange,
} from '../../../workspace/index.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { acknowledgeWrites, assertNotElsewhere, findLinkedFork } from '../../access/linked-access.ts'
import { areSeveralPending, openPendingMerges } from '../../access/pending-merge.ts'
import { assertNotNew, printRunningCommands } from '../../access/running-command.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, exitCodes } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { describeApplied, listAllChanges, printApplied, printUndone } from './apply-report.ts'
import { abortMerge, continueMerge } from './finish-merge.ts'
import { formatApplyConflicts, formatUndoConflicts } from './format-apply-conflicts.ts'
import { pickChanges } from './pick-changes.ts'
import { findPathHint, selectPaths, toTreePath } from './select-paths.ts'

export const apply: Command = defineCommand(
  {
    name: 'apply',
    summary: 'Write the changes of a fork to this directory',
    details: `Writes all changes or none. Forks of this directory come from coppice exec; for a fork of a vault use coppice merge.
After --, names the files and directories to write; the other changes stay in the fork. ':!path' leaves a path out.
If the directory changed at the same paths meanwhile, nothing is written and the exit code is 3; --merge merges them.
Conflicts of --merge are resolved one at a time with coppice resolve; --continue then writes everything.
Several forks are written in this order, and undone together.`,
    scope: 'home',
    options: {
      patch: { summary: 'Ask about each hunk, as git add -p does', short: 'p' },
      merge: { summary: 'Merge files that changed here too, by lines' },
      markers: { summary: 'As --merge; in a conflict, write both versions between markers' },
      undo: { summary: 'Revert the last apply of this fork' },
      'keep-setuid': { summary: 'Also write setuid and setgid bits' },
      continue: { summary: 'Finish an apply whose conflicts are resolved' },
      abort: { summary: 'Give up an apply that waits; nothing of it was written' },
    },
    arguments: {
      fork: {
        summary: 'The forks (default: the one used last)',
        isOptional: true,
        isList: true,
        offers: 'directory-fork',
      },
      path: {
        summary: 'Files, directories or patterns to write (default: all changes)',
        isOptional: true,
        isList: true,
        isAfterDashes: true,
        offers: 'file',
      },
    },
    examples: [
      'coppice apply',
      'coppice apply project-1 -- src/cart.ts docs',
      'coppice apply -p',
      'coppice apply fix-1 fix-2 --merge',
      'coppice apply --undo',
    ],
  },
  (call) =>
    withHome(call, async (open) => {
      const step = parseStep(call)
      if (step === 'continue') return continueMerge(call, open, { command: 'apply' })
      if (step === 'abort') return abortMerge(call, open, { command: 'apply' })
      const target = await requireForks(open, call.argumentList('fork'))
      if (!call.has('undo')) return applyForks(call, open, target)
      const isNamed = call.argumentList('fork').length > 0
      return undoForks(call, open, isNamed ? target : await findApplied(target))
    }),
)

type ApplyInvocation = CommandInvocation<
  'patch' | 'merge' | 'markers' | 'undo' | 'keep-setuid' | 'continue' | 'abort',
  'fork' | 'path'
>

/**
 * Returns the step of an apply that waits; undefined for a new one. UsageError if the step has another option or an
 * argument.
 */
function parseStep(call: ApplyInvocation): 'continue' | 'abort' | undefined {
  const step = (['continue', 'abort'] as const).find((name) => call.has(name))
  const others = ['patch', 'merge', 'markers', 'undo', 'keep-setuid', 'abort'] as const
  const other = others.find((name) => name !== step && call.has(name))
  if (step === undefined) return undefined
  if (other !== undefined) throw new UsageError(`--${step} and --${other} exclude each other; leave one out`)
  if (call.argumentList('fork').length + call.argumentList('path').length > 0)
    throw new UsageError(`--${step} takes no names: it is about the apply that waits`)
  return step
}

interface ApplyTarget {
  readonly link: LinkedDirectory
  readonly forks: readonly [LinkedFork, ...LinkedFork[]]
}

async function applyForks(call: ApplyInvocation, open: OpenHome, target: ApplyTarget): Promise<number> {
  const { ctx } = open
  const { link, forks } = target
  const words = call.argumentList('path')
  const merge = call.has('markers') ? 'markers' : call.has('merge') ? 'strict' : undefined
  // Listed only for a choice among them; otherwise only a conflict needs them.
  const changed = words.length > 0 || call.has('patch') ? await listAllChanges(link, forks) : undefined
  const toPath = (word: string) => toTreePath(link.path, word)
  const paths =
    words.length === 0
      ? undefined
      : selectPaths(changed ?? [], {
          words,
          toPath,
          fork: forks[0].name,
          messagePrefix: 'nothing was written: ',
        })
  const selection = call.has('patch') ? await pickHunks(call, forks, changed ?? [], paths) : { paths }
  if (selection === undefined) {
    await call.output.writeValue(
      { fork: forks[0].name, changes: [] },
      'nothing was written: no change was picked',
    )
    return exitCodes.ok
  }
  const names = forks.map(({ name }) => name)
  const texts = new Set<string>()
  const conflicts = { onTextConflict: (path: string) => texts.add(path) }
  const keepSetuid = call.has('keep-setuid')
  const context: ApplyContext = { ...ctx, keepSetuid, merge, conflicts, ...selection }
  try {
    const changes = await link.apply(forks, context)
    await acknowledgeWrites(open.home)
    await endPending(open, link.path, forks)
    await printApplied(call, await describeApplied(link, forks, changes))
    printRunningCommands(call, open, names)
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof ApplyError)) throw error
    const canWait = merge === 'strict' && !call.has('patch') && error.conflicts.some((each) => each.isChoice)
    const waiting = canWait ? await keepPending(open, link.path, names, context) : undefined
    if (call.isJson) throw error
    const all = changed ?? (await listAllChanges(link, forks))
    const hints = { texts, isNamed: waiting !== undefined && (await areSeveralPending(open)) }
    call.terminal.err.write(
      formatApplyConflicts(error, { forks: names, merge, words, changed: all, waiting, context: hints }),
    )
    return exitCodes.conflict
  }
}

async function undoForks(call: ApplyInvocation, open: OpenHome, target: ApplyTarget): Promise<number> {
  const {
    link,
    forks: [fork, ...others],
  } = target
  const option = (['patch', 'merge', 'markers', 'keep-setuid'] as const).find((name) => call.has(name))
  if (option !== undefined) throw new UsageError(`--undo and --${option} exclude each other; leave one out`)
  if (call.argumentList('path').length > 0)
    throw new UsageError('--undo reverts a whole apply; leave out the paths')
  const names = await link.listAppliedTogether(fork)
  const stranger = others.find(({ name }) => !names.includes(name))
  if (stranger !== undefined)
    throw new CommandError(
      `${fork.name} and ${stranger.name} were not applied together; undo them one by one`,
    )
  try {
    const changes = await link.undo(fork, open.ctx)
    await acknowledgeWrites(open.home)
    await printUndone(call, names, changes, await openPendingMerges(open).reopen(link.path, names))
    return exitCodes.ok
  } catch (error) {
    if (!(error instanceof ApplyError) || call.isJson) throw error
    call.terminal.err.write(formatUndoConflicts(error, names))
    return exitCodes.conflict
  }
}

/** Asks which hunks to apply; undefined if none. UsageError for several forks. */
async function pickHunks(
  call: ApplyInvocation,
  forks: readonly LinkedFork[],
  changed: readonly TreeChange[],
  paths: readonly string[] | undefined,
): Promise<ChangeSelection | undefined> {
  if (forks.length > 1) throw new UsageError('-p takes one fork; pick from the others afterwards')
  const chosen = paths === undefined ? changed : changed.filter(({ path }) => paths.includes(path))
  const selection = await pickChanges(call.terminal, chosen)
  return selection.paths?.length === 0 && selection.picks?.length === 0 ? undefined : selection
}

/**
 * Returns the named forks, which must be of one directory, or the one used last. CommandError if the first is none;
 * ENOENT for the others.
 */
async function requireForks(open: OpenHome, names: readonly string[]): Promise<ApplyTarget> {
  const first = await findLinkedFork(open.home, names[0])
  if (first === undefined) {
    assertNotNew(open, names[0])
    await assertNotElsewhere(open.home, names[0])
    throw new CommandError(
      names[0] === undefined
        ? 'there is no fork of this directory; create one with: coppice exec -- <command>'
        : `'${names[0]}' is not a fork of this directory; ${suggestNames(names, names[0])}`,
    )
  }
  const { link, fork } = first
  const requireOther = async (name: string) => {
    const found = await link.findFork(name)
    if (found !== undefined) return found
    assertNotNew(open, name)
    throw new CommandError(`'${name}' is not a fork of ${link.path}; ${suggestNames(names, name)}`)
  }
  const others = await Promise.all([...new Set(names)].slice(1).map(requireOther))
  return { link, forks: [fork, ...others] }
}

/** Says how to apply a path, for a word that is one, and how to list the forks for any other. */
function suggestNames(names: readonly string[], stranger: string): string {
  const before = names.slice(0, names.indexOf(stranger))
  return findPathHint(stranger, ['apply', ...before]) ?? 'list its forks with: coppice forks'
}

/** Returns the fork used last if it was applied, otherwise the one that was. CommandError if there are several. */
async function findApplied(target: ApplyTarget): Promise<ApplyTarget> {
  const { link, forks } = target
  if (await link.isApplied(forks[0])) return target
  const all = await link.listForks()
  const flags = await Promise.all(all.map((fork) => link.isApplied(fork)))
  const [first, ...others] = all.filter((_fork, index) => flags[index])
  // The undo of a fork that was not applied fails with the right message.
  if (first === undefined) return target
  if (others.length === 0) return { link, forks: [first] }
  const names = [first, ...others].map(({ name }) => name).join(', ')
  throw new CommandError(`several forks were applied: ${names}; name the one to undo`)
}

/** Ends an apply of these forks that waits, because it was done in another way. */
async function endPending(open: OpenHome, directory: string, forks: readonly LinkedFork[]): Promise<void> {
  const merges = openPendingMerges(open)
  const waiting = merges.find(directory)
  if (waiting?.sources.some((source) => forks.some(({ name }) => name === source)))
    await merges.end(directory)
}

/** Records the apply, which waits now for the resolution of its conflicts. */
async function keepPending(
  open: OpenHome,
  directory: string,
  sources: readonly string[],
  { paths, keepSetuid }: ApplyContext,
): Promise<PendingMerge> {
  const merges = openPendingMerges(open)
  const earlier = merges.find(directory)
  const isSame = earlier !== undefined && earlier.sources.join() === sources.join()
  const pending = {
    kind: 'apply',
    sources,
    target: directory,
    directory,
    paths,
    keepSetuid,
    resolutions: isSame ? earlier.resolutions : new Map(),
  } as const
  await merges.begin(pending)
  return pending
}
