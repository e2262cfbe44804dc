import type { Resolution } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { PendingMerge } from '../../../workspace/index.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { nameOurs, openPendingMerges, requirePendingMerge } from '../../access/pending-merge.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { formatHomeCommand } from '../../framework/hint.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { into } from '../shared-options.ts'
import { nameResolution } from './conflicts.ts'
import { editConflict, runMergeTool, type TextConflict } from './edit-conflict.ts'
import { formatProgress } from './merge-report.ts'
import { findPendingConflicts, matchConflict, type PendingConflicts } from './pending-conflicts.ts'

const ways = ['ours', 'theirs', 'union', 'edit', 'mergetool', 'tool', 'undo'] as const
type Way = (typeof ways)[number]
type ResolveInvocation = CommandInvocation<Way | 'all' | 'into', 'path'>

export const resolve: Command = defineCommand(
  {
    name: 'resolve',
    summary: 'Resolve a conflict of a merge that waits',
    details: `Records the choice; nothing is written until coppice merge --continue or apply --continue.
--edit opens $VISUAL or $EDITOR with both versions between markers; --mergetool opens the tool of git mergetool.
If a side changes a file after its conflict was edited, that conflict is open again.`,
    scope: 'home',
    options: {
      ours: { summary: 'Keep the version that is merged into' },
      theirs: { summary: 'Take the version of the fork' },
      union: { summary: 'Keep the lines of both, ours first' },
      edit: { summary: 'Edit the file with both versions between markers' },
      mergetool: { summary: "Merge in git's merge tool" },
      tool: { summary: 'As --mergetool, with this tool', value: 'name' },
      undo: { summary: 'Open the conflict again' },
      all: { summary: 'Resolve every open conflict' },
      into,
    },
    arguments: { path: { summary: 'The files', isOptional: true, isList: true, offers: 'file' } },
    examples: [
      'coppice resolve src/cart.ts --theirs',
      'coppice resolve src/cart.ts --edit',
      'coppice resolve --all --union',
    ],
  },
  (call) =>
    withHome(call, async (open) => {
      const way = parseWay(call)
      const merge = await requirePendingMerge(open, { target: call.option('into') })
      const found = await findPendingConflicts(open, merge)
      for (const path of selectConflicts(call, merge, found)) {
        const resolution = createResolution(call, way, merge, { path, found })
        await openPendingMerges(open).resolve(merge.target, new Map([[path, resolution]]))
        if (!call.isJson) await call.output.writeLine(formatResolved(path, resolution))
      }
      await printProgress(call, open, merge.target)
    }),
)

/**
 * Returns the resolution, after the user edited the file if that is the way; undefined to open the conflict again.
 * CommandError if there is no side to choose, or if the file has no lines to merge.
 */
function createResolution(
  call: ResolveInvocation,
  way: Way,
  merge: PendingMerge,
  { path, found }: { readonly path: string; readonly found: PendingConflicts },
): Resolution | undefined {
  if (way === 'undo') return undefined
  const { reason, isChoice } = found.open.find((conflict) => conflict.path === path) ?? {}
  if (reason !== undefined && isChoice !== true)
    throw new CommandError(
      `${path} ${reason}; there is no side to choose; leave it out: coppice apply … -- ':!${path}'`,
    )
  if (way === 'ours' || way === 'theirs') return way
  const sides = found.texts.get(path)
  if (sides === undefined) throw new CommandError(`${path} has no lines to merge; choose --ours or --theirs`)
  if (way === 'union') return way
  const names = { ours: nameOurs(merge), theirs: merge.sources.join(' and ') }
  const conflict: TextConflict = { path, sides, names }
  return way === 'edit' ? editConflict(conflict) : runMergeTool(conflict, call.option('tool'))
}

function selectConflicts(
  call: ResolveInvocation,
  merge: PendingMerge,
  found: PendingConflicts,
): readonly string[] {
  const words = call.argumentList('path')
  if (call.has('all') && words.length > 0)
    throw new UsageError('--all and paths exclude each other; leave one out')
  if (call.has('all'))
    return call.has('undo') ? [...found.resolved.keys()] : found.open.map(({ path }) => path)
  if (words.length === 0)
    throw new UsageError(`name the file, or --all; see ${formatHomeCommand(call, 'conflicts')}`)
  return words.map((word) => matchConflict(merge, found, word))
}

function parseWay(call: ResolveInvocation): Way {
  const [way, second] = ways.filter((name) => call.has(name))
  if (way === undefined)
    throw new UsageError('choose one of --ours, --theirs, --union, --edit, --mergetool and --undo')
  if (second !== undefined) throw new UsageError(`--${way} and --${second} exclude each other; leave one out`)
  return way
}

function formatResolved(path: string, resolution: Resolution | undefined): string {
  if (resolution === undefined) return `${escapeName(path)} is open again`
  return `resolved ${escapeName(path)}: ${nameResolution(resolution)}`
}

async function printProgress(call: CommandInvocation, open: OpenHome, target: string): Promise<void> {
  const merge = await requirePendingMerge(open, { target })
  const { open: left, resolved } = await findPendingConflicts(open, merge)
  await call.output.writeValue(
    { into: target, open: left.map(({ path }) => path), resolved: [...resolved.keys()] },
    formatProgress(merge, left.length, resolved.size),
  )
}
