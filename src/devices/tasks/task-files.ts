import { type CallContext, child, type FileSystem, isVfsError, VfsError } from '../../vfs/index.ts'
import { changeText, readTextIfPresent } from '../stored/index.ts'
import { assertStatusFollows, findCycle, formatTask, parseTask, type Task, type TaskStatus } from './task.ts'

const TASK_FILE = /^([1-9]\d{0,8})\.json$/

/** A change of a task. */
export interface TaskChange {
  readonly status?: TaskStatus | undefined
  /** Dependencies to add. */
  readonly dependencies?: readonly string[] | undefined
  /** New owner; null for none. */
  readonly owner?: string | null | undefined
}

/** A malformed task file. */
interface TaskFault {
  readonly file: string
  readonly problem: string
}

export interface TaskList {
  readonly tasks: readonly Task[]
  readonly faults: readonly TaskFault[]
}

/** Tasks as files of a directory: `1.json`, `2.json`, …. Several processes may use it concurrently. */
export class TaskFiles {
  readonly #fs: FileSystem
  readonly #directory: string
  readonly #now: () => Date

  constructor(fs: FileSystem, directory: string, now: () => Date = () => new Date()) {
    this.#fs = fs
    this.#directory = directory
    this.#now = now
  }

  async create(subject: string, description: string, ctx?: CallContext): Promise<Task> {
    const now = this.#now().toISOString()
    for (let id = (await this.#findLastId(ctx)) + 1; ; id++) {
      const task: Task = {
        id: String(id),
        subject,
        description,
        status: 'pending',
        owner: null,
        dependencies: [],
        created_at: now,
        updated_at: now,
      }
      try {
        await this.#fs.write(this.#getTaskPath(task.id), formatTask(task), { ifMatch: null }, ctx)
        return task
      } catch (error) {
        // Another process has just taken the number.
        if (!isVfsError(error, 'ECONFLICT')) throw error
      }
    }
  }

  /**
   * Updates a task. ENOENT if it or a dependency does not exist; EINVAL for an invalid status or a dependency cycle;
   * ECONFLICT for its current status.
   */
  async update(id: string, change: TaskChange, ctx?: CallContext): Promise<Task> {
    for (const dependency of change.dependencies ?? []) await this.get(dependency, ctx)
    const update = await this.#change(id, (task) => this.#applyChange(task, change), ctx)
    if ((change.dependencies ?? []).length > 0) await this.#assertNoCycle(id, update, ctx)
    return update.after
  }

  /** Returns a task. ENOENT if there is none, EIO if its file is malformed. */
  async get(id: string, ctx?: CallContext): Promise<Task> {
    const file = this.#getTaskPath(id)
    const text = TASK_FILE.test(`${id}.json`) ? await readTextIfPresent(this.#fs, file, ctx) : null
    return this.#parseTask(id, text)
  }

  /** Lists all tasks in creation order, and the malformed files. */
  async list(ctx?: CallContext): Promise<TaskList> {
    const tasks: Task[] = []
    const faults: TaskFault[] = []
    for (const id of await this.#listIds(ctx)) {
      try {
        tasks.push(await this.get(String(id), ctx))
      } catch (error) {
        if (!isVfsError(error, 'EIO')) throw error
        faults.push({ file: error.path, problem: error.message })
      }
    }
    return { tasks, faults }
  }

  async #change(
    id: string,
    apply: (task: Task) => Task,
    ctx?: CallContext,
  ): Promise<{ before: Task; after: Task }> {
    let before = await this.get(id, ctx)
    let after = before
    await changeText(
      this.#fs,
      this.#getTaskPath(id),
      (text) => {
        before = this.#parseTask(id, text)
        after = apply(before)
        return formatTask(after)
      },
      ctx,
    )
    return { before, after }
  }

  #applyChange(task: Task, { status, dependencies = [], owner }: TaskChange): Task {
    if (status !== undefined) assertStatusFollows(task, status, this.#getTaskPath(task.id))
    return {
      ...task,
      status: status ?? task.status,
      owner: owner === undefined ? task.owner : owner,
      dependencies: [...new Set([...task.dependencies, ...dependencies])],
      updated_at: this.#now().toISOString(),
    }
  }

  /**
   * Checks for a cycle after the write: of two processes that close one concurrently, the later sees it.
   * If there is one, undoes the update and throws EINVAL.
   */
  async #assertNoCycle(id: string, { before, after }: { before: Task; after: Task }, ctx?: CallContext) {
    const cycle = findCycle(id, (await this.list(ctx)).tasks)
    if (cycle === undefined) return
    const added = after.dependencies.filter((name) => !before.dependencies.includes(name))
    await this.#change(
      id,
      (task) => ({
        ...task,
        // Revert only what is unchanged since: others may have updated the task.
        status: task.status === after.status ? before.status : task.status,
        owner: task.owner === after.owner ? before.owner : task.owner,
        dependencies: task.dependencies.filter((name) => !added.includes(name)),
        updated_at: task.updated_at === after.updated_at ? before.updated_at : task.updated_at,
      }),
      ctx,
    )
    const detail = `the tasks would depend on each other: ${cycle.join(' → ')}; nothing was changed`
    throw new VfsError('EINVAL', this.#getTaskPath(id), { op: 'task_update', detail })
  }

  #parseTask(id: string, text: string | null): Task {
    if (text !== null) return parseTask(text, this.#getTaskPath(id))
    const detail = `there is no task ${JSON.stringify(id)}; see task_list`
    throw new VfsError('ENOENT', this.#getTaskPath(id), { op: 'task', detail })
  }

  async #findLastId(ctx?: CallContext): Promise<number> {
    return (await this.#listIds(ctx)).at(-1) ?? 0
  }

  async #listIds(ctx?: CallContext): Promise<number[]> {
    const ids: number[] = []
    if (!(await this.#fs.exists(this.#directory, ctx))) return ids
    for await (const { name } of this.#fs.readdir(this.#directory, ctx)) {
      const [, id] = name.match(TASK_FILE) ?? []
      if (id !== undefined) ids.push(Number(id))
    }
    return ids.sort((one, other) => one - other)
  }

  #getTaskPath(id: string): string {
    return child(this.#directory, `${id}.json`)
  }
}
