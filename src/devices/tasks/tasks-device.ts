import { z } from 'zod'
import { type Device, SnapshotFile } from '../../kernel/index.ts'
import { type FileSystem, isVfsError } from '../../vfs/index.ts'
import { type DeviceOperation, defineOperation, operationsDevice } from '../operation/index.ts'
import { formatTask, type Task, taskStatuses } from './task.ts'
import { TaskFiles } from './task-files.ts'

const PATH = '/dev/tasks'
const MAX_SUBJECT_CHARACTERS = 200
const MAX_DESCRIPTION_CHARACTERS = 20_000

export interface TasksOptions {
  /** File system that stores the tasks. */
  readonly fs: FileSystem
  /** Directory of the tasks; `/tasks` when absent. */
  readonly directory?: string
  readonly now?: () => Date
}

/** Creates the device of shared tasks. Each task is a file below it, by number. */
export function tasksDevice({ fs, directory = '/tasks', now }: TasksOptions): Device {
  const files = new TaskFiles(fs, directory, now)
  return operationsDevice(PATH, createOperations(files), {
    async open(subpath) {
      try {
        return new SnapshotFile(`${PATH}${subpath}`, formatTask(await files.get(subpath.slice(1))))
      } catch (error) {
        if (isVfsError(error, 'ENOENT')) return undefined
        throw error
      }
    },
    names: async () => (await files.list()).tasks.map(({ id }) => id),
  })
}

/** Accepts ids as models write them. */
const taskId = z
  .union([z.string().regex(/^\d+$/, 'the number of a task'), z.int().positive()])
  .describe('The number of a task.')
  .transform(String)

function createOperations(files: TaskFiles): Readonly<Record<string, DeviceOperation>> {
  return {
    task_create: defineOperation({
      description: 'Adds a task to the list that all processes share. It begins as pending.',
      schema: z.strictObject({
        subject: z.string().trim().min(1).max(MAX_SUBJECT_CHARACTERS).describe('The task in one line.'),
        description: z.string().max(MAX_DESCRIPTION_CHARACTERS).default('').describe('Details of the task.'),
      }),
      run: ({ subject, description }, { signal }) => files.create(subject, description, { signal }),
    }),
    task_update: defineOperation({
      description:
        'Changes a task. Its status goes pending → in_progress → completed, one step at a time; new dependencies are added. ' +
        'To take a task, set owner and in_progress in one call: a second caller is refused.',
      schema: z.strictObject({
        id: taskId,
        status: z.enum(taskStatuses).optional(),
        dependencies: z.array(taskId).optional().describe('Tasks that must be completed first.'),
        owner: z.string().trim().min(1).nullable().optional().describe('The owner; null for none.'),
      }),
      run: ({ id, ...change }, { signal }) => files.update(id, change, { signal }),
    }),
    task_list: defineOperation({
      description: 'Lists all tasks with their status; blocked_by lists unfinished dependencies.',
      schema: z.strictObject({ status: z.enum(taskStatuses).optional() }),
      run: async ({ status }, { signal }) => {
        const { tasks, faults } = await files.list({ signal })
        const wanted = tasks.filter((task) => status === undefined || task.status === status)
        return {
          tasks: wanted.map((task) => ({ ...task, blocked_by: listBlockers(task, tasks) })),
          ...(faults.length > 0 && { faults }),
        }
      },
    }),
  }
}

function listBlockers({ dependencies }: Task, tasks: readonly Task[]): string[] {
  const completed = new Set(tasks.filter(({ status }) => status === 'completed').map(({ id }) => id))
  return dependencies.filter((id) => !completed.has(id))
}
