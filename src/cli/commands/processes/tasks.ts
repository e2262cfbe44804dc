import { escapeName } from '../../../text/index.ts'
import { callDevice } from '../../access/call-device.ts'
import { type Command, type CommandGroup, defineCommand } from '../../framework/command.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatTable } from '../../render/table.ts'

const TASKS_DEVICE = '/dev/tasks'
const statuses = ['pending', 'in_progress', 'completed'] as const

/** A task as the device returns it. */
export interface ListedTask {
  readonly id: string
  readonly subject: string
  readonly status: string
  readonly owner: string | null
  readonly blocked_by?: readonly string[]
}

const list: Command = defineCommand(
  {
    name: 'tasks list',
    summary: 'List the tasks that processes share',
    scope: 'home',
    options: { status: { summary: 'Only tasks with this status', value: 'status', choices: statuses } },
    examples: ['coppice tasks list', 'coppice tasks list --status pending --json'],
  },
  async (call) => {
    const status = call.option('status')
    const request = { op: 'task_list', ...(status !== undefined && { status }) }
    const { tasks } = await callDevice<{ readonly tasks: readonly ListedTask[] }>(call, TASKS_DEVICE, request)
    await call.output.writeValue(
      tasks,
      tasks.length === 0 ? 'there are no tasks' : formatTaskTable(tasks).join('\n'),
    )
  },
)

const add: Command = defineCommand(
  {
    name: 'tasks add',
    summary: 'Add a task',
    scope: 'home',
    options: { description: { summary: 'Details of the task', value: 'text' } },
    arguments: { subject: { summary: 'The task in one line' } },
    examples: [
      'coppice tasks add "update the README"',
      'coppice tasks add "fix the build" --description "see the CI log"',
    ],
  },
  async (call) => {
    const request = {
      op: 'task_create',
      subject: call.argument('subject'),
      description: call.option('description') ?? '',
    }
    const task = await callDevice<ListedTask>(call, TASKS_DEVICE, request, { create: true })
    await call.output.writeValue(task, `task ${task.id}`)
  },
)

const update: Command = defineCommand(
  {
    name: 'tasks update',
    summary: 'Change the status or the owner of a task',
    scope: 'home',
    options: {
      status: {
        summary: 'Next status: pending → in_progress → completed',
        value: 'status',
        choices: statuses,
      },
      owner: { summary: 'Owner of the task', value: 'name' },
    },
    arguments: { id: { summary: 'The number of the task' } },
    examples: [
      'coppice tasks update 1 --status in_progress --owner me',
      'coppice tasks update 1 --status completed',
    ],
  },
  async (call) => {
    const [status, owner] = [call.option('status'), call.option('owner')]
    if (status === undefined && owner === undefined)
      throw new UsageError('nothing to change; give --status or --owner')
    const change = { ...(status !== undefined && { status }), ...(owner !== undefined && { owner }) }
    const request = { op: 'task_update', id: call.argument('id'), ...change }
    const task = await callDevice<ListedTask>(call, TASKS_DEVICE, request)
    await call.output.writeValue(task, `task ${task.id} is ${task.status}`)
  },
)

/** Formats tasks as a table. */
export function formatTaskTable(tasks: readonly ListedTask[]): string[] {
  return formatTable(
    tasks.map(({ id, subject, status, owner, blocked_by = [] }) => [
      id,
      status,
      escapeName(owner ?? '-'),
      escapeName(subject),
      blocked_by.length === 0 ? '' : `after ${blocked_by.join(', ')}`,
    ]),
  )
}

export const tasks: CommandGroup = {
  name: 'tasks',
  summary: 'See and change the tasks that processes share',
  commands: [list, add, update],
}
