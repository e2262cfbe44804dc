import { escapeName } from '../../../text/index.ts'
import { SPECIAL_BITS } from '../../../vfs/index.ts'
import type { LinkedDirectory, LinkedFork, PendingMerge, TreeChange } from '../../../workspace/index.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { formatErrorLine } from '../../framework/errors.ts'
import { formatChange } from '../../render/format-change.ts'
import { countListed, formatChangeList } from '../../render/format-git.ts'
import { formatCount } from '../../render/format-values.ts'
import { formatRedo, toPathChange, withKind } from './merge-report.ts'

/** Paths that a message names; it counts the rest. */
const MAX_LISTED = 10

/** Outcome of an apply of one or several forks. */
export interface AppliedForks {
  readonly names: readonly string[]
  /** Changes that were written, and those at which the directory stays as it is (`isKept`). */
  readonly changes: readonly TreeChange[]
  /** Changes that the forks still have. */
  readonly remaining: readonly TreeChange[]
  /** If the forks had no change to write: paths that changed in the directory since the last apply. */
  readonly differing: readonly string[]
}

/** Describes what an apply wrote and left. Where it had nothing to write, looks for the paths that explain why. */
export async function describeApplied(
  link: LinkedDirectory,
  forks: readonly LinkedFork[],
  changes: readonly TreeChange[],
): Promise<AppliedForks> {
  const remaining = await listAllChanges(link, forks)
  const [fork] = forks
  const isIdle = changes.length === 0 && remaining.length === 0
  return {
    names: forks.map(({ name }) => name),
    changes,
    remaining,
    differing: isIdle && fork !== undefined ? await link.listDifferingPaths(fork) : [],
  }
}

export async function listAllChanges(
  link: LinkedDirectory,
  forks: readonly LinkedFork[],
): Promise<TreeChange[]> {
  return (await Promise.all(forks.map((fork) => link.listChanges(fork)))).flat()
}

/** Prints what an apply wrote, and on standard error the paths that need the person. */
export async function printApplied(call: CommandInvocation, applied: AppliedForks): Promise<void> {
  const { names, changes, remaining, differing } = applied
  const withheld = remaining.filter(isSpecialBitsOnly).map(({ path }) => path)
  const left = remaining.filter((change) => !isSpecialBitsOnly(change))
  if (call.isJson) {
    await call.output.writeValue({
      fork: names[0],
      forks: names,
      undone: false,
      changes: changes.map(toPathChange),
      differing,
      setuidLeftOut: withheld,
      remaining: left.map(({ path }) => path),
      merged: listFlagged(changes, 'isMerged'),
      unresolved: listFlagged(changes, 'isUnresolved'),
      unchanged: listFlagged(changes, 'isKept'),
    })
  } else {
    await printAppliedText(call, applied, countListed(left.map(withKind)))
  }
  if (withheld.length > 0) call.terminal.err.write(formatErrorLine(formatWithheldBits(names, withheld)))
}

async function printAppliedText(
  call: CommandInvocation,
  { names, changes, differing }: AppliedForks,
  left: number,
): Promise<void> {
  await writeLines(call, formatAppliedLines(call, changes))
  const written = formatAppliedLines(
    call,
    changes.filter(({ isKept }) => !isKept),
  )
  const counts = { written: written.length, kept: listFlagged(changes, 'isKept').length, left }
  await call.output.writeLine(
    changes.length === 0 ? formatIdle(names, differing) : formatWritten(names, counts),
  )
  const placeholders = listFlagged(changes, 'hasPlaceholders')
  const unresolved = listFlagged(changes, 'isUnresolved')
  if (placeholders.length > 0) call.terminal.err.write(formatErrorLine(formatPlaceholders(placeholders)))
  if (unresolved.length > 0) call.terminal.err.write(formatErrorLine(formatUnresolved(unresolved)))
}

function listFlagged(
  changes: readonly TreeChange[],
  flag: 'isMerged' | 'isUnresolved' | 'isKept' | 'hasPlaceholders',
): string[] {
  return changes.filter((change) => change[flag]).map(({ path }) => path)
}

/** Prints what an undo reverted, and where it put a merge back to its choices (`waiting`), the command that redoes it. */
export async function printUndone(
  call: CommandInvocation,
  names: readonly string[],
  changes: readonly TreeChange[],
  waiting: PendingMerge | undefined,
): Promise<void> {
  if (call.isJson) {
    const shown = changes.map(toPathChange)
    await call.output.writeValue({ fork: names[0], forks: names, undone: true, changes: shown })
    return
  }
  const lines = formatChangeList(changes.map(withKind), (change) =>
    formatChange(call.terminal, toPathChange(change)),
  )
  await writeLines(call, lines)
  const [count, who] = [formatCount(lines.length, 'change'), names.join(' and ')]
  const what = lines.length === 0 ? 'its changes' : lines.length === 1 ? 'it' : 'them'
  const still = names.length === 1 ? `the fork still has ${what}` : `the forks still have ${what}`
  const redo = waiting === undefined ? '' : `; ${formatRedo(waiting)}`
  const undone =
    lines.length === 0 ? `undid the apply of ${who}, which wrote nothing` : `undid ${count} of ${who}`
  await call.output.writeLine(`${undone}; ${still}${redo}`)
}

function formatAppliedLines(call: CommandInvocation, changes: readonly TreeChange[]): string[] {
  return formatChangeList(changes.map(withKind), (change) => {
    const { isUnresolved, isKept, isMerged } = change
    const note = isUnresolved ? '  conflict' : isKept ? '  stays as it is' : isMerged ? '  merged' : ''
    return `${formatChange(call.terminal, toPathChange(change))}${note}`
  })
}

async function writeLines(call: CommandInvocation, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await call.output.writeLine(lines.join('\n'))
}

/** True for a change that only adds setuid or setgid bits, which is written on request alone. */
function isSpecialBitsOnly({ before, after }: TreeChange): boolean {
  if (before?.type !== 'file' || after?.type !== 'file' || before.size !== after.size) return false
  return before.mode !== after.mode && before.mode === (after.mode & ~SPECIAL_BITS)
}

interface AppliedCounts {
  readonly written: number
  /** Changes at which the directory stays as it is. */
  readonly kept: number
  /** Changes that stay in the forks. */
  readonly left: number
}

function formatWritten(names: readonly string[], { written, kept, left }: AppliedCounts): string {
  const did =
    written === 0
      ? 'nothing was written'
      : `wrote ${formatCount(written, 'change')} of ${names.join(' and ')} to this directory`
  const stays =
    kept === 0 ? '' : `; ${formatCount(kept, 'path')} ${kept === 1 ? 'stays as it is' : 'stay as they are'}`
  const rest =
    left === 0 ? '' : `; ${formatCount(left, 'change')} ${left === 1 ? 'stays' : 'stay'} in the fork`
  return `${did}${stays}${rest}; undo with: coppice apply ${names[0]} --undo`
}

/** Explains why nothing was written: the directory has every change already, or was edited after an earlier apply. */
function formatIdle(names: readonly string[], differing: readonly string[]): string {
  const who = names.join(' and ')
  if (differing.length === 0) return `nothing was written: this directory already has all changes of ${who}`
  const unchanged = names.length === 1 ? 'has not changed since its' : 'have not changed since their'
  return `nothing was written: ${who} ${unchanged} last apply; paths that differ here: ${listPaths(differing)}`
}

function formatWithheldBits(names: readonly string[], paths: readonly string[]): string {
  const command = `coppice apply ${names.join(' ')} --keep-setuid`
  return `setuid and setgid were not written: ${listPaths(paths)}; write them with: ${command}`
}

function formatPlaceholders(paths: readonly string[]): string {
  return `placeholders of masked secrets stay in: ${listPaths(paths)}; put the values in yourself where they belong`
}

function formatUnresolved(paths: readonly string[]): string {
  return `both versions were written, edit these files: ${listPaths(paths)}`
}

function listPaths(paths: readonly string[]): string {
  const more = paths.length > MAX_LISTED ? `, and ${paths.length - MAX_LISTED} more` : ''
  return paths.slice(0, MAX_LISTED).map(escapeName).join(', ') + more
}
