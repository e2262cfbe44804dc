import { RunningForks } from '../../../boundary/index.ts'
import type { LinkedDirectory, LinkedFork } from '../../../workspace/index.ts'
import { dropFork } from '../../access/drop-forks.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { listLinkedDirectories } from '../../access/linked-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatCount } from '../../render/format-values.ts'

const MINUTE_MS = 60_000
const UNIT_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 1440 * MINUTE_MS }

export const prune: Command = defineCommand(
  {
    name: 'prune',
    summary: 'Delete unchanged forks of this directory',
    details: `Deletes forks without changes: those that were applied, and those whose command changed nothing. Asks nothing.
With --older-than, also forks with changes that were not used for that time. A fork in which a command runs stays.`,
    scope: 'home',
    options: {
      'older-than': { summary: 'Also forks not used for this long, such as 30m, 12h or 7d', value: 'time' },
      'dry-run': { summary: 'Only list what would be deleted' },
    },
    examples: ['coppice prune', 'coppice prune --older-than 7d --dry-run'],
  },
  (call) =>
    withHome(call, async (open) => {
      const before = parseAge(call.option('older-than'))
      const links = await listLinkedDirectories(open.home)
      const names = (await Promise.all(links.map((link) => listPrunable(open, link, before)))).flat()
      const isTrial = call.has('dry-run')
      if (!isTrial) for (const name of names) await dropFork(open, name)
      await printPruned(call, names, isTrial)
    }),
)

/** Lists the forks to delete: those without changes, and those not used since a time, if no command runs in them. */
async function listPrunable(
  { path }: OpenHome,
  link: LinkedDirectory,
  before: number | undefined,
): Promise<string[]> {
  const running = RunningForks.of(path)
  const prunable: string[] = []
  for (const fork of await link.listForks()) {
    if (running.find(fork.name) !== undefined) continue
    if (isOlder(fork, before) || (await link.listChanges(fork)).length === 0) prunable.push(fork.name)
  }
  return prunable
}

function isOlder({ used }: LinkedFork, before: number | undefined): boolean {
  return before !== undefined && used.getTime() < before
}

/** Parses an age such as 7d. Returns the time that long ago, in milliseconds since the epoch. UsageError. */
function parseAge(age: string | undefined): number | undefined {
  if (age === undefined) return undefined
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(age) ?? []
  const size = unit === undefined ? undefined : UNIT_MS[unit]
  if (size === undefined)
    throw new UsageError(`--older-than takes a time such as 30m, 12h or 7d, not '${age}'`)
  return Date.now() - Number(count) * size
}

async function printPruned(
  call: CommandInvocation<'older-than' | 'dry-run'>,
  names: readonly string[],
  isTrial: boolean,
): Promise<void> {
  const what = `${formatCount(names.length, 'fork')}${names.length === 0 ? '' : `: ${names.join(', ')}`}`
  await call.output.writeValue(
    { deleted: names, dry_run: isTrial },
    `${isTrial ? 'would delete' : 'deleted'} ${what}`,
  )
}
