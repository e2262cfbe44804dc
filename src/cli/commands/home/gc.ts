import type { SweepReport } from '../../../workspace/index.ts'
import { withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatBytes, formatCount, formatTime } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'
import { formatWaitingChanges } from '../../render/waiting-changes.ts'

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

export const gc: Command = defineCommand(
  {
    name: 'gc',
    summary: 'Free space that no vault, checkpoint or version needs',
    details: `Other processes may read and write meanwhile.
Also removes leftovers of deleted vaults and killed commands.
--keep-history deletes file versions older than that; without it all are kept.
Changes of a killed command wait if they cannot be stored: the directory of their fork is missing, or the disk is full.
gc names them, and deletes them 30 days later.
In a home in a database with objects in S3, content that a gc found a day ago moves from the database to S3.`,
    scope: 'home',
    options: {
      'keep-history': {
        summary: 'Keep versions this long: 12h, 30d, 8w, or since a date such as 2026-01-31',
        value: 'time',
      },
      'keep-left': {
        summary: 'Keep changes of killed commands that cannot be stored this long (default: 30d)',
        value: 'age',
      },
      'pack-after': {
        summary: 'Move content to S3 that an earlier gc found this long ago: 12h, 7d, 0h (default: 1d)',
        value: 'age',
      },
    },
    examples: ['coppice gc', 'coppice gc --keep-history 30d'],
  },
  (call) =>
    withHome(call, async ({ home, path }) => {
      const { terminal, output } = call
      const since = call.option('keep-history')
      const history = since === undefined ? {} : { keepHistory: parseMoment(since) }
      const age = call.option('pack-after')
      const packing = age === undefined ? {} : { packAfterMs: parseAgeOption('pack-after', age) }
      const left = call.option('keep-left')
      const keptMs = left === undefined ? undefined : parseAgeOption('keep-left', left)
      const { sweepHome } = await import('../../../workspace/index.ts')
      const swept = await sweepHome(home, path, keptMs)
      const report = await withProgress(terminal, 'gc', 'object', (onProgress) =>
        home.gc({ ...history, ...packing, onProgress, signal: terminal.signal }),
      )
      const { pages, blobs, bytes, givenBack, packed } = report
      const waiting =
        report.uploads === 0
          ? ''
          : `; pages and blobs stay while uploads run (${report.uploads}): run coppice gc again later`
      const smaller = givenBack === 0 ? '' : `; the store is ${formatBytes(givenBack)} smaller`
      const freed = `freed ${formatCount(pages, 'page')}, and ${formatCount(blobs, 'blob')} of ${formatBytes(bytes)}`
      const moved =
        packed.blobs === 0
          ? ''
          : `; moved ${formatCount(packed.blobs, 'blob')} of ${formatBytes(packed.bytes)} to S3`
      const stays =
        packed.problem === undefined ? '' : `; other content was not moved to S3: ${packed.problem}`
      const text = `${freed}${smaller}${moved}${stays}${waiting}${formatSweepReport(swept)}`
      const lines = [text, ...formatWaitingSweep(swept)]
      await output.writeValue({ ...report, ...swept }, lines.join('\n'))
    }),
)

function formatSweepReport({ checkouts, hiddenVaults, sessions }: SweepReport): string {
  const removed = [
    ...(checkouts > 0 ? [formatCount(checkouts, 'checkout')] : []),
    ...(hiddenVaults > 0 ? [formatCount(hiddenVaults, 'hidden vault')] : []),
    ...(sessions > 0 ? [formatCount(sessions, 'session')] : []),
  ]
  return removed.length === 0 ? '' : `; removed unused ${removed.join(', ')}`
}

function formatWaitingSweep({ deletedChanges, waitingChanges }: SweepReport): string[] {
  return [
    ...deletedChanges.map((changes) => `deleted: ${formatWaitingChanges(changes)}`),
    ...waitingChanges.map(
      ({ until, ...changes }) =>
        `waiting: ${formatWaitingChanges(changes)}; coppice gc deletes them after ${formatTime(until)}, or now with --keep-left 0h`,
    ),
  ]
}

/** Parses an age in hours, days or weeks, to milliseconds; undefined for any other text. */
function parseAge(text: string): number | undefined {
  const { count, unit = '' } = text.match(/^(?<count>\d{1,6})(?<unit>[hdw])$/)?.groups ?? {}
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0)
}

function parseAgeOption(option: string, text: string): number {
  const age = parseAge(text)
  if (age === undefined) throw new UsageError(`--${option} takes an age such as 12h or 7d, not '${text}'`)
  return age
}

/** Parses a date, or an age before now. UsageError. */
function parseMoment(text: string): Date {
  const age = parseAge(text)
  const moment = age === undefined ? parseDate(text) : new Date(Date.now() - age)
  if (!Number.isNaN(moment.getTime())) return moment
  throw new UsageError(`--keep-history takes a time such as 30d or 2026-01-31, not '${text}'`)
}

/** Parses a date with or without a time of day. `Date` alone would read 12 as a month. */
function parseDate(text: string): Date {
  return new Date(/^\d{4}-\d{2}-\d{2}/.test(text) ? text : Number.NaN)
}
