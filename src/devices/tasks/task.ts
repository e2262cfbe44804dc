import { z } from 'zod'
import { VfsError } from '../../vfs/index.ts'

export const taskStatuses = ['pending', 'in_progress', 'completed'] as const

/** Status of a task. It passes through all of them in this order. */
export type TaskStatus = (typeof taskStatuses)[number]

/** A unit of work. */
export interface Task {
  readonly id: string
  readonly subject: string
  readonly description: string
  readonly status: TaskStatus
  /** Owner of the task; null while it has none. */
  readonly owner: string | null
  /** Ids of the tasks that come before it. */
  readonly dependencies: readonly string[]
  readonly created_at: string
  readonly updated_at: string
}

const task: z.ZodType<Task> = z.object({
  id: z.string(),
  subject: z.string(),
  description: z.string(),
  status: z.enum(taskStatuses),
  owner: z.string().nullable(),
  dependencies: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
})

/** Parses a task file. EIO if it is malformed, since a person may have edited it. */
export function parseTask(text: string, path: string): Task {
  try {
    return task.parse(JSON.parse(text))
  } catch (cause) {
    const detail = 'the file is not a valid task; repair it or remove it'
    throw new VfsError('EIO', path, { op: 'task', detail, cause })
  }
}

export function formatTask(task: Task): string {
  return `${JSON.stringify(task, null, 2)}\n`
}

const nextStatus: Readonly<Record<TaskStatus, TaskStatus | null>> = {
  pending: 'in_progress',
  in_progress: 'completed',
  completed: null,
}

/**
 * Throws unless a status may follow that of a task. ECONFLICT for the status it has already, so that of two processes
 * that begin a task only one succeeds; EINVAL for any other.
 */
export function assertStatusFollows({ id, status, owner }: Task, wanted: TaskStatus, path: string): void {
  if (nextStatus[status] === wanted) return
  if (status === wanted) {
    const ownerNote = owner === null ? '' : `, and ${owner} has it`
    throw new VfsError('ECONFLICT', path, {
      op: 'task_update',
      detail: `task ${id} is already ${status}${ownerNote}`,
    })
  }
  const follows = nextStatus[status] === null ? 'that status is final' : `it can become ${nextStatus[status]}`
  const detail = `task ${id} is ${status} and cannot become ${wanted}; ${follows}`
  throw new VfsError('EINVAL', path, { op: 'task_update', detail })
}

/** Returns the tasks of a dependency cycle through a task; undefined if there is none. */
export function findCycle(id: string, tasks: readonly Task[]): readonly string[] | undefined {
  const dependencies = new Map(tasks.map((task) => [task.id, task.dependencies]))
  const visited = new Set<string>()
  const trails = [[id]]
  for (let trail = trails.pop(); trail !== undefined; trail = trails.pop()) {
    for (const dependency of dependencies.get(trail.at(-1) ?? '') ?? []) {
      if (dependency === id) return [...trail, id]
      if (!visited.has(dependency)) trails.push([...trail, dependency])
      visited.add(dependency)
    }
  }
  return undefined
}
