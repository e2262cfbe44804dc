import type { SweepReport } from '../../../workspace/index.ts'
import { withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatBytes, formatCount } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

export const gc: Command = defineCommand(
  {
    name: 'gc',
    summary: 'Free space that no vault, checkpoint or version needs',
    details: `Other processes may read and write meanwhile.
Also removes leftovers of deleted vaults and killed commands.
--keep-history deletes file versions older than that; without it all are kept.`,
    scope: 'home',
    options: {
      'keep-history': {
        summary: 'Keep versions this long: 12h, 30d, 8w, or since a date such as 2026-01-31',
        value: 'time',
      },
    },
    examples: ['coppice gc', 'coppice gc --keep-history 30d'],
  },
  (call) =>
    withHome(call, async ({ home, path }) => {
      const { terminal, output } = call
      const since = call.option('keep-history')
      const history = since === undefined ? {} : { keepHistory: parseMoment(since) }
      const { sweepHome } = await import('../../../workspace/index.ts')
      const swept = await sweepHome(home, path)
      const report = await withProgress(terminal, 'gc', 'object', (onProgress) =>
        home.gc({ ...history, onProgress, signal: terminal.signal }),
      )
      const { pages, blobs, bytes, givenBack } = report
      const waiting =
        report.uploads === 0
          ? ''
          : `; pages and blobs stay while uploads run (${report.uploads}): run coppice gc again later`
      const smaller = givenBack === 0 ? '' : `; the store is ${formatBytes(givenBack)} smaller`
      const freed = `freed ${formatCount(pages, 'page')}, and ${formatCount(blobs, 'blob')} of ${formatBytes(bytes)}`
      const text = `${freed}${smaller}${waiting}${formatSweepReport(swept)}`
      await output.writeValue({ ...report, ...swept }, text)
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

/** Parses a date, or an age before now. UsageError. */
function parseMoment(text: string): Date {
  const { count, unit = '' } = text.match(/^(?<count>\d{1,6})(?<unit>[hdw])$/)?.groups ?? {}
  const moment =
    count === undefined ? parseDate(text) : new Date(Date.now() - Number(count) * (UNIT_MS[unit] ?? 0))
  if (!Number.isNaN(moment.getTime())) return moment
  throw new UsageError(`--keep-history takes a time such as 30d or 2026-01-31, not '${text}'`)
}

/** Parses a date with or without a time of day. `Date` alone would read 12 as a month. */
function parseDate(text: string): Date {
  return new Date(/^\d{4}-\d{2}-\d{2}/.test(text) ? text : Number.NaN)
}
