import { escapeName } from '../../../text/index.ts'
import { isVfsError } from '../../../vfs/index.ts'
import { chooseAgentWorkspace } from '../../access/agent-workspace.ts'
import { callDevice, callDeviceWith } from '../../access/call-device.ts'
import { withDaemon } from '../../access/daemon-access.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatTable } from '../../render/table.ts'
import { assertProvider, parseProcessOptions, parseTask } from './process-options.ts'

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
    await call.output.writeValue(jobs, jobs.length === 0 ? 'no cron jobs' : formatTable(rows).join('\n'))
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
    const { intent, agent } = parseTask(call)
    const options = parseProcessOptions(call)
    // Without a project, each process forks the vault that is current at its time.
    const vault = call.option('on-vault') ?? (await chooseAgentWorkspace(call)).directory
    const request = {
      op: 'cron_create',
      schedule: call.argument('schedule'),
      intent,
      ...(agent !== undefined && { agent }),
      options: { ...options, vault },
      timezone: call.option('timezone') ?? new Intl.DateTimeFormat().resolvedOptions().timeZone,
    }
    const job = await withDaemon(
      call,
      async (client) => {
        const { signal } = call.terminal
        await assertProvider(client, options.provider, signal)
        return callDeviceWith<ListedCronJob>(client, CRON_DEVICE, request, signal).catch((error: unknown) => {
          throw toUsageError(error)
        })
      },
      { create: true },
    )
    await call.output.writeValue(
      job,
      `job ${job.id} is due ${formatDueTime(job.next_run, job.timezone)} ${job.timezone}${vault === undefined ? '' : `, on a fork of ${vault}`}`,
    )
  },
)

/** Converts the error for an invalid schedule or time zone, which is a mistake in the command line. */
function toUsageError(error: unknown): unknown {
  if (!isVfsError(error, 'EINVAL') || error.path !== CRON_DEVICE) return error
  return new UsageError(error.detail ?? error.message, { cause: error })
}

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
