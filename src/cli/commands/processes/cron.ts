import { escapeName } from '../../../text/index.ts'
import { chooseAgentWorkspace } from '../../access/agent-workspace.ts'
import { callDevice } from '../../access/call-device.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import { formatTable } from '../../render/table.ts'

const CRON_DEVICE = '/dev/cron'

interface ListedCronJob {
  readonly id: string
  readonly schedule: string
  readonly timezone: string
  readonly intent: string
  readonly agent: string | null
  /** Vault or directory of its processes. */
  readonly options: { readonly vault?: string }
  readonly next_run: string | null
  readonly last_error: string | null
}

const list: Command = defineCommand(
  {
    name: 'cron list',
    summary: 'List cron jobs and their next run',
    scope: 'home',
    examples: ['coppice cron list', 'coppice cron list --json'],
  },
  async (call) => {
    const { jobs } = await callDevice<{ readonly jobs: readonly ListedCronJob[] }>(call, CRON_DEVICE, {
      op: 'cron_list',
    })
    const rows = jobs.map(({ id, schedule, timezone, next_run, options, intent, last_error }) => [
      id,
      schedule,
      timezone,
      formatDueTime(next_run, timezone),
      escapeName(options.vault ?? '-'),
      escapeName(last_error === null ? intent : `${intent} (failed: ${last_error})`),
    ])
    await call.output.writeValue(jobs, jobs.length === 0 ? 'nothing recurs' : formatTable(rows).join('\n'))
  },
)

const add: Command = defineCommand(
  {
    name: 'cron add',
    summary: 'Spawn a process on a schedule',
    details: `The schedule has five fields: minute, hour, day, month, weekday; or is @hourly, @daily, @weekly.
It follows its time zone, daylight saving included.
Each process works on a fork of this directory, or of --on-vault. The job remembers the directory.
The daemon stays while there are jobs; it makes up once for runs it missed.`,
    scope: 'home',
    options: {
      agent: { summary: 'Agent to run', value: 'name' },
      provider: { summary: 'Model provider', value: 'name' },
      model: { summary: 'The model of that provider', value: 'name' },
      budget: { summary: 'Token limit', value: 'tokens' },
      skills: { summary: 'Skills, separated by commas', value: 'names' },
      tools: { summary: 'More tools by name or device, separated by commas', value: 'names' },
      groups: { summary: 'Groups to join, separated by commas', value: 'names' },
      'max-steps': { summary: 'Step limit', value: 'number' },
      'on-vault': { summary: 'Vault to fork for each process, in place of this directory', value: 'name' },
      timezone: { summary: 'Such as Europe/Berlin or UTC (that of this machine)', value: 'zone' },
    },
    arguments: {
      schedule: { summary: 'The schedule, in quotes' },
      intent: { summary: 'The task for each process' },
    },
    examples: [
      'coppice cron add @daily "review the open tasks"',
      'coppice cron add "0 9 * * 1-5" "sum up what changed" --timezone Europe/Berlin',
    ],
  },
  async (call) => {
    const agent = call.option('agent')
    // Without a project, each process forks the vault that is current at its time.
    const vault = call.option('on-vault') ?? (await chooseAgentWorkspace(call)).directory
    const request = {
      op: 'cron_create',
      schedule: call.argument('schedule'),
      intent: call.argument('intent'),
      ...(agent !== undefined && { agent }),
      options: {
        provider: call.option('provider'),
        model: call.option('model'),
        budget: call.countOption('budget'),
        skills: call.option('skills')?.split(/\s*,\s*/),
        tools: call.option('tools')?.split(/\s*,\s*/),
        groups: call.option('groups')?.split(/\s*,\s*/),
        max_steps: call.countOption('max-steps'),
        vault,
      },
      timezone: call.option('timezone') ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
    }
    const job = await callDevice<ListedCronJob>(call, CRON_DEVICE, request, { create: true })
    await call.output.writeValue(
      job,
      `job ${job.id} is due ${formatDueTime(job.next_run, job.timezone)} ${job.timezone}${vault === undefined ? '' : `, on a fork of ${vault}`}`,
    )
  },
)

const remove: Command = defineCommand(
  {
    name: 'cron remove',
    summary: 'Remove a cron job',
    scope: 'home',
    arguments: { id: { summary: 'The number of the job' } },
    examples: ['coppice cron remove 1', 'coppice cron remove 1 --json'],
  },
  async (call) => {
    const id = call.argument('id')
    await callDevice<unknown>(call, CRON_DEVICE, { op: 'cron_delete', id })
    await call.output.writeValue({ removed: id }, `removed job ${id}`)
  },
)

export const cron: CommandGroup = {
  name: 'cron',
  summary: 'Spawn processes on a schedule',
  commands: [list, add, remove],
}

/** Formats a moment in a time zone: `2026-11-16 09:00`. */
function formatDueTime(moment: string | null, timeZone: string): string {
  if (moment === null) return 'never'
  // Swedish formats dates as ISO 8601.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    new Date(moment),
  )
}
