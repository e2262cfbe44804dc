import { shown } from '../../server/text/index.ts'
import { askDevice } from '../ask-device.ts'
import { type Command, command, type Family } from '../command.ts'
import { table } from '../table.ts'

const PATH = '/dev/cron'

interface Job {
  readonly id: string
  readonly schedule: string
  readonly timezone: string
  readonly intent: string
  readonly agent: string | null
  readonly next_run: string | null
  readonly last_error: string | null
}

const list: Command = command(
  {
    name: 'cron list',
    summary: 'List what recurs, and when it is due',
    scope: 'home',
    examples: ['coppice cron list', 'coppice cron list --json'],
  },
  async (call) => {
    const { jobs } = await askDevice<{ readonly jobs: readonly Job[] }>(call, PATH, { op: 'cron_list' })
    const rows = jobs.map(({ id, schedule, timezone, next_run, intent, last_error }) => [
      id,
      schedule,
      timezone,
      dueText(next_run, timezone),
      shown(last_error === null ? intent : `${intent} (failed: ${last_error})`),
    ])
    await call.output.value(jobs, jobs.length === 0 ? 'nothing recurs' : table(rows).join('\n'))
  },
)

const add: Command = command(
  {
    name: 'cron add',
    summary: 'Have a process spawned again and again',
    details: `The schedule has five fields: minute, hour, day, month, weekday; or is @hourly, @daily, @weekly.
It keeps to the clocks of its time zone, also when these are put forward or back.
It fires while the daemon runs, which stays as long as anything recurs; what was missed is made up for once.`,
    scope: 'home',
    options: {
      agent: { summary: 'The agent each process is', value: 'name' },
      timezone: { summary: 'Such as Europe/Berlin or UTC (that of this machine)', value: 'zone' },
    },
    arguments: {
      schedule: { summary: 'When, in quotes' },
      intent: { summary: 'What each process is to do' },
    },
    examples: ['coppice cron add "0 9 * * 1-5" "sum up what changed" --timezone Europe/Berlin'],
  },
  async (call) => {
    const agent = call.text('agent')
    const request = {
      op: 'cron_create',
      schedule: call.argument('schedule'),
      intent: call.argument('intent'),
      ...(agent !== undefined && { agent }),
      timezone: call.text('timezone') ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
    }
    const job = await askDevice<Job>(call, PATH, request, { create: true })
    await call.output.value(
      job,
      `job ${job.id} is due ${dueText(job.next_run, job.timezone)} ${job.timezone}`,
    )
  },
)

const remove: Command = command(
  {
    name: 'cron remove',
    summary: 'End something that recurs',
    scope: 'home',
    arguments: { id: { summary: 'The number of the job' } },
    examples: ['coppice cron remove 1'],
  },
  async (call) => {
    const id = call.argument('id')
    await askDevice<unknown>(call, PATH, { op: 'cron_delete', id })
    await call.output.value({ removed: id }, `removed job ${id}`)
  },
)

export const cron: Family = {
  name: 'cron',
  summary: 'Have processes spawned by a schedule',
  commands: [list, add, remove],
}

/** A moment as the clocks of a time zone show it: `2026-11-16 09:00`. */
function dueText(moment: string | null, timeZone: string): string {
  if (moment === null) return 'never'
  // The one language whose usual form is that of the rest of our times.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    new Date(moment),
  )
}
