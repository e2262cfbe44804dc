import { shown } from '../../server/text/index.ts'
import { askDevice } from '../ask-device.ts'
import { type Command, command, type Family } from '../command.ts'
import { table } from '../table.ts'
import { UsageError } from '../usage-error.ts'

const PATH = '/dev/tasks'
const statuses = ['pending', 'in_progress', 'completed'] as const

/** A task as the device tells of it. */
export interface Task {
  readonly id: string
  readonly subject: string
  readonly status: string
  readonly owner: string | null
  readonly blocked_by?: readonly string[]
}

const list: Command = command(
  {
    name: 'tasks list',
    summary: 'List the tasks that processes share',
    scope: 'home',
    options: { status: { summary: 'Only those that are so', value: 'status', choices: statuses } },
    examples: ['coppice tasks list', 'coppice tasks list --status pending --json'],
  },
  async (call) => {
    const status = call.text('status')
    const request = { op: 'task_list', ...(status !== undefined && { status }) }
    const { tasks } = await askDevice<{ readonly tasks: readonly Task[] }>(call, PATH, request)
    await call.output.value(tasks, tasks.length === 0 ? 'there are no tasks' : taskTable(tasks).join('\n'))
  },
)

const add: Command = command(
  {
    name: 'tasks add',
    summary: 'Add a task',
    scope: 'home',
    options: { description: { summary: 'Whatever it takes to do it', value: 'text' } },
    arguments: { subject: { summary: 'What is to be done, in one line' } },
    examples: ['coppice tasks add "update the README"'],
  },
  async (call) => {
    const request = {
      op: 'task_create',
      subject: call.argument('subject'),
      description: call.text('description') ?? '',
    }
    const task = await askDevice<Task>(call, PATH, request, { create: true })
    await call.output.value(task, `task ${task.id}`)
  },
)

const update: Command = command(
  {
    name: 'tasks update',
    summary: 'Change the status or the owner of a task',
    scope: 'home',
    options: {
      status: {
        summary: 'pending → in_progress → completed, a step at a time',
        value: 'status',
        choices: statuses,
      },
      owner: { summary: 'Who does it', value: 'name' },
    },
    arguments: { id: { summary: 'The number of the task' } },
    examples: ['coppice tasks update 1 --status in_progress --owner me'],
  },
  async (call) => {
    const [status, owner] = [call.text('status'), call.text('owner')]
    if (status === undefined && owner === undefined)
      throw new UsageError('say what to change, with --status or --owner')
    const change = { ...(status !== undefined && { status }), ...(owner !== undefined && { owner }) }
    const request = { op: 'task_update', id: call.argument('id'), ...change }
    const task = await askDevice<Task>(call, PATH, request)
    await call.output.value(task, `task ${task.id} is ${task.status}`)
  },
)

/** Tasks, one a line. */
export function taskTable(tasks: readonly Task[]): string[] {
  return table(
    tasks.map(({ id, subject, status, owner, blocked_by = [] }) => [
      id,
      status,
      shown(owner ?? '-'),
      shown(subject),
      blocked_by.length === 0 ? '' : `after ${blocked_by.join(', ')}`,
    ]),
  )
}

export const tasks: Family = {
  name: 'tasks',
  summary: 'See and change the tasks that processes share',
  commands: [list, add, update],
}
