import { resolve } from 'node:path'
import type { Home, Vault } from '../../../backends/vault/index.ts'
import {
  countChangedLines,
  isRefusedByGit,
  listFileChanges,
  readChangedText,
  type TreePair,
} from '../../../diff/index.ts'
import { separateGitChanges } from '../../../git-files/index.ts'
import { escapeName } from '../../../text/index.ts'
import { type CallContext, collapseChanges, type PathChange, VfsError } from '../../../vfs/index.ts'
import { type OpenHome, resolveVaultName, withHome } from '../../access/home-access.ts'
import { assertNotElsewhere, findLinkedFork, listLinkedForkNames } from '../../access/linked-access.ts'
import { assertNotNew, printRunningCommands } from '../../access/running-command.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, formatErrorLine } from '../../framework/errors.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatChangeDetails } from '../../render/change-summary.ts'
import {
  formatChange,
  formatChangeWithMode,
  formatCollapsed,
  toChangeJson,
} from '../../render/format-change.ts'
import { formatGitLines } from '../../render/format-git.ts'
import { formatCount } from '../../render/format-values.ts'
import { type PrintedChanges, printPatch } from './print-patch.ts'
import { findPathHint, selectPaths, toTreePath } from './select-paths.ts'

/** Names that a message has at most. */
const MAX_LISTED = 10

export const diff: Command = defineCommand(
  {
    name: 'diff',
    summary: 'Show what changed in a fork or a vault',
    details: `In a directory with forks of coppice exec: prints the changed lines of the named fork, or of the one used last.
Elsewhere, and with --vault: lists A added, M modified, D deleted and R renamed paths since the fork point, or since
a checkpoint, another vault (vault:NAME), or a checkpoint of another vault (NAME@CHECKPOINT).
A new or deleted directory with a hundred files or more is one line; --all, --patch and --json list its files.
Commits are one line for each branch; --all and --json list the files of git behind them.
After --, names the files and directories to show. ':!path' leaves a path out.
--patch includes binary files, except at a terminal, which shows only their names.`,
    scope: 'vault',
    options: {
      patch: { summary: 'Print the changed lines as a patch for git apply', short: 'p' },
      all: { summary: 'List the files of large new and deleted directories, and those of git, too' },
      stat: { summary: 'Count the added and removed lines of each file' },
    },
    arguments: {
      against: {
        summary: 'Fork of this directory, or state to compare with (default: the fork point)',
        isOptional: true,
        offers: 'fork-or-checkpoint',
      },
      path: {
        summary: 'Files, directories or patterns to show (default: all changes)',
        isOptional: true,
        isList: true,
        isAfterDashes: true,
        offers: 'file',
      },
    },
    examples: [
      'coppice diff',
      'coppice diff project-1 -- src/cart.ts docs',
      'coppice diff project-1 --stat',
      'coppice diff --vault task-1',
      'coppice diff --vault task-1 --patch',
      'coppice diff before --patch',
      'coppice diff vault:base --stat',
      'coppice diff base@before',
    ],
  },
  (call) =>
    withHome(call, async (open) => {
      if (call.has('patch') && call.has('stat'))
        throw new UsageError('--patch and --stat exclude each other; leave one out')
      const comparison = await selectChanges(call, await resolveComparison(call, open))
      const isWhole = call.has('all') || call.isJson
      await printComparison(
        call,
        isWhole ? comparison : await shortenComparison(call, comparison, open.ctx),
        open,
      )
    }),
)

async function printComparison(
  call: DiffInvocation,
  { changes, heading = [], trees, directory }: Comparison,
  { ctx }: OpenHome,
): Promise<void> {
  if (call.has('stat')) await printStat(call, { changes, trees, heading }, ctx)
  else if (call.has('patch') || (directory !== undefined && !call.isJson))
    await printPatch(call, { changes, trees, heading }, { isWhole: call.has('patch'), ctx })
  else {
    for (const line of heading) await call.output.writeLine(line)
    await call.output.writeList(
      changes,
      (change) => formatChangeWithMode(call.terminal, change),
      toChangeJson,
    )
  }
}

/** Puts lines in place of what nobody reads file by file. A patch has no such lines. */
async function shortenComparison(
  call: DiffInvocation,
  comparison: Comparison,
  ctx: CallContext,
): Promise<Comparison> {
  const { trees } = comparison
  const { changes: others, git } = await separateGitChanges(comparison.changes, trees, ctx)
  if (call.has('patch')) return { ...comparison, changes: leaveOutGit(call, others) }
  const { changes, directories } = await collapseChanges(others, trees, ctx)
  const collapsed = directories.map((directory) => formatCollapsed(call.terminal, directory))
  return { ...comparison, changes, heading: [...formatGitLines(git), ...collapsed] }
}

/** Leaves out `.git` and what is below it: git refuses a patch with such a path. */
function leaveOutGit(call: DiffInvocation, changes: readonly PathChange[]): PathChange[] {
  const left = changes.filter(isRefusedByGit)
  const names = left.slice(0, MAX_LISTED).map(({ path }) => escapeName(path))
  const more = left.length > MAX_LISTED ? `, and ${left.length - MAX_LISTED} more` : ''
  if (left.length > 0)
    call.terminal.err.write(
      formatErrorLine(`not in the patch, as git applies none below .git: ${names.join(', ')}${more}`),
    )
  return changes.filter((change) => !left.includes(change))
}

type DiffInvocation = CommandInvocation<'patch' | 'stat' | 'all', 'against' | 'path'>

interface Comparison {
  readonly changes: AsyncIterable<PathChange> | readonly PathChange[]
  /** Lines that stand for other changes. */
  readonly heading?: readonly string[]
  readonly trees: TreePair
  /** The directory whose fork it is: the working directory, or one around it. Absent for a vault. */
  readonly directory?: string
  /** The name of that fork. */
  readonly fork?: string
}

/** Leaves out the changes that the words after the dashes do not select. In a vault, these words are its paths. */
async function selectChanges(call: DiffInvocation, comparison: Comparison): Promise<Comparison> {
  const words = call.argumentList('path')
  if (words.length === 0) return comparison
  const { directory, fork } = comparison
  const toPath = (word: string) =>
    directory === undefined ? resolve('/', word) : toTreePath(directory, word)
  const changes = await Array.fromAsync(comparison.changes)
  const selected = new Set(selectPaths(changes, { words, toPath, fork }))
  return { ...comparison, changes: changes.filter(({ path }) => selected.has(path)) }
}

async function resolveComparison(call: DiffInvocation, open: OpenHome): Promise<Comparison> {
  const against = call.optionalArgument('against')
  if (!call.has('vault')) {
    const linked = await findLinkedFork(open.home, against)
    if (linked !== undefined) {
      const { link, fork } = linked
      printRunningCommands(call, open, [fork.name])
      return {
        changes: link.diff(fork),
        trees: await link.openTrees(fork),
        directory: link.path,
        fork: fork.name,
      }
    }
    assertNotNew(open, against)
    await assertComparable(call, open, against)
  }
  return compareVaults(open.home, await open.home.vault(await resolveVaultName(call, open)), against)
}

/**
 * Throws CommandError for a fork of another directory, and in a directory with forks ENOENT for a name that is neither one
 * of them nor a checkpoint of the vault.
 */
async function assertComparable(
  call: DiffInvocation,
  open: OpenHome,
  against: string | undefined,
): Promise<void> {
  if (against === undefined || parseVaultReference(against) !== undefined) return
  if (await hasCheckpoint(call, open, against)) return
  await assertNotElsewhere(open.home, against)
  const forks = await listLinkedForkNames(open.home)
  if (forks.length === 0) return
  const next = findPathHint(against, ['diff']) ?? `its forks: ${forks.slice(0, MAX_LISTED).join(', ')}`
  const detail = `this directory has no fork '${against}'; ${next}`
  throw new VfsError('ENOENT', against, { op: 'diff', detail })
}

async function hasCheckpoint(call: DiffInvocation, open: OpenHome, name: string): Promise<boolean> {
  try {
    const vault = await open.home.vault(await resolveVaultName(call, open))
    return (await vault.checkpoints()).some((checkpoint) => checkpoint.name === name)
  } catch (error) {
    if (error instanceof CommandError) return false
    throw error
  }
}

async function compareVaults(home: Home, vault: Vault, against: string | undefined): Promise<Comparison> {
  const reference = against === undefined ? undefined : parseVaultReference(against)
  if (reference === undefined) {
    const trees = { before: vault.at(against), after: vault }
    return { changes: vault.diff(against), trees }
  }
  const other = await home.vault(reference.vault)
  const before = reference.checkpoint === undefined ? other : other.at(reference.checkpoint)
  const trees = { before, after: vault }
  return { changes: vault.diff(reference), trees }
}

/**
 * Parses `vault:NAME` and `[vault:]NAME@CHECKPOINT`; undefined for any other word, which names a checkpoint of the
 * vault itself.
 */
function parseVaultReference(
  against: string,
): { readonly vault: string; readonly checkpoint?: string } | undefined {
  const [, prefix, vault = '', checkpoint] = against.match(/^(vault:)?([^@]+)(?:@(.+))?$/s) ?? []
  if (checkpoint !== undefined) return { vault, checkpoint }
  return prefix === undefined ? undefined : { vault }
}

interface CountedChange extends PathChange {
  readonly added: number
  readonly removed: number
  readonly isBinary: boolean
}

async function printStat(
  call: CommandInvocation,
  { changes, trees, heading }: PrintedChanges,
  ctx: CallContext,
): Promise<void> {
  const total = { files: 0, added: 0, removed: 0 }
  const counts = async function* (): AsyncGenerator<CountedChange> {
    for await (const change of listFileChanges(changes, trees, ctx)) {
      const text = await readChangedText(change, trees, ctx)
      const lines = text.isBinary ? { added: 0, removed: 0 } : countChangedLines(text)
      total.files++
      total.added += lines.added
      total.removed += lines.removed
      yield { ...change, ...lines, isBinary: text.isBinary }
    }
  }
  const text = ({ added, removed, isBinary, ...change }: CountedChange) => {
    const about = formatChangeDetails(change, isBinary, `+${added} -${removed}`)
    return `${formatChange(call.terminal, change)}${about}`
  }
  for (const line of heading) await call.output.writeLine(line)
  await call.output.writeList(counts(), text, toChangeJson)
  if (call.isJson) return
  await call.output.writeLine(`${formatCount(total.files, 'path')}, +${total.added} -${total.removed} lines`)
}
