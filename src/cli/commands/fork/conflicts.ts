import { mergeText, type Resolution } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { PendingMerge } from '../../../workspace/index.ts'
import { withHome } from '../../access/home-access.ts'
import { areSeveralPending, findPendingMerge, nameOurs } from '../../access/pending-merge.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError } from '../../framework/errors.ts'
import { escapeForTerminal } from '../../render/format-values.ts'
import { into } from '../shared-options.ts'
import { formatProgress, formatResolveHints } from './merge-report.ts'
import {
  findPendingConflicts,
  formatConflict,
  matchConflict,
  type PendingConflicts,
} from './pending-conflicts.ts'

export const conflicts: Command = defineCommand(
  {
    name: 'conflicts',
    summary: 'List the conflicts of a merge that waits',
    details: `A merge or apply --merge with conflicts writes nothing and waits. This lists its conflicts, as both sides are now.
With a path, prints that file with both versions between markers.`,
    scope: 'home',
    options: { into },
    arguments: { path: { summary: 'A file in conflict', isOptional: true, offers: 'file' } },
    examples: ['coppice conflicts', 'coppice conflicts src/cart.ts', 'coppice conflicts --json'],
  },
  (call) =>
    withHome(call, async (open) => {
      const merge = await findPendingMerge(open, { target: call.option('into') })
      if (merge === undefined) {
        await call.output.writeValue(
          { open: 0, conflicts: [] },
          'no merge waits for its conflicts to be resolved',
        )
        return
      }
      const found = await findPendingConflicts(open, merge)
      const word = call.optionalArgument('path')
      if (word !== undefined) await printText(call, merge, found, word)
      else await printConflicts(call, merge, found, await areSeveralPending(open))
    }),
)

async function printConflicts(
  call: CommandInvocation,
  merge: PendingMerge,
  { open, resolved, texts }: PendingConflicts,
  isNamed: boolean,
): Promise<void> {
  if (call.isJson) {
    const { kind, sources, target } = merge
    const listed = [
      ...open.map((conflict) => ({ ...conflict, resolution: null })),
      ...Array.from(resolved, ([path, resolution]) => ({ path, resolution: nameResolution(resolution) })),
    ]
    await call.output.writeValue({ kind, sources, into: target, open: open.length, conflicts: listed })
    return
  }
  await call.output.writeLine(formatProgress(merge, open.length, resolved.size))
  for (const conflict of open) await call.output.writeLine(`  C ${formatConflict(merge, conflict)}`)
  for (const [path, resolution] of resolved)
    await call.output.writeLine(`  - ${escapeName(path)}  ${nameResolution(resolution)}`)
  const hints = formatResolveHints(merge, open, { texts, isNamed }).trimEnd()
  if (hints !== '') await call.output.writeLine(hints)
}

async function printText(
  call: CommandInvocation,
  merge: PendingMerge,
  found: PendingConflicts,
  word: string,
): Promise<void> {
  const path = matchConflict(merge, found, word)
  const sides = found.texts.get(path)
  if (sides === undefined)
    throw new CommandError(`${path} has no lines to compare; choose with coppice resolve --ours or --theirs`)
  const names = { ours: nameOurs(merge), theirs: merge.sources.join(' and ') }
  const text = Buffer.from(mergeText(sides, names).text, 'latin1').toString()
  const shown = escapeForTerminal(call.terminal, text.endsWith('\n') ? text.slice(0, -1) : text)
  await call.output.writeValue({ path, text }, shown)
}

export function nameResolution(resolution: Resolution): string {
  return typeof resolution === 'string' ? resolution : 'edited'
}
