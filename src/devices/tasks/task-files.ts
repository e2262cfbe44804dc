import { type CallContext, child, type FileSystem, isVfsError, VfsError } from '../../vfs/index.ts'
import { changeText, readTextIfPresent } from '../stored/index.ts'
import { assertStatusFollows, findCycle, formatTask, parseTask, type Task, type TaskStatus } from './task.ts'

const FILE = /^([1-9]\d{0,8})\.json$/

/** What becomes different about a task. */
export interface TaskChange {
  readonly status?: TaskStatus | undefined
  /** Added to those it has. */
  readonly dependencies?: readonly string[] | undefined
  /** null for nobody. */
  readonly owner?: string | null | undefined
}

/** A file among the tasks that is none. */
interface TaskFault {
  readonly file: string
  readonly problem: string
}

export interface TaskList {
  readonly tasks: readonly Task[]
  readonly faults: readonly TaskFault[]
}

/** Tasks as files of a directory, `1.json` and so on. Several processes may work on it at the same time. */
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
        // Somebody else has just taken the number.
        if (!isVfsError(error, 'ECONFLICT')) throw error
      }
    }
  }

  /** ENOENT, EINVAL for a status it cannot go to or a circle of dependencies, ECONFLICT for the status it has. */
  async update(id: string, change: TaskChange, ctx?: CallContext): Promise<Task> {
    for (const before of change.dependencies ?? []) await this.get(before, ctx)
    const added = await this.#change(id, (task) => this.#applyChange(task, change), ctx)
    if ((change.dependencies ?? []).length > 0) await this.#assertNoCycle(id, added, ctx)
    return added.after
  }

  /** ENOENT. */
  async get(id: string, ctx?: CallContext): Promise<Task> {
    const file = this.#getTaskPath(id)
    const text = FILE.test(`${id}.json`) ? await readTextIfPresent(this.#fs, file, ctx) : null
    return this.#parseTask(id, text)
  }

  /** All, in the order in which they were made. */
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
    changed: (task: Task) => Task,
    ctx?: CallContext,
  ): Promise<{ before: Task; after: Task }> {
    let before = await this.get(id, ctx)
    let after = before
    await changeText(
      this.#fs,
      this.#getTaskPath(id),
      (text) => {
        before = this.#parseTask(id, text)
        after = changed(before)
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
   * Looked for when it is written: of two who close a circle from both sides at once, at least the later one sees it.
   * What was added is then taken out again.
   */
  async #assertNoCycle(id: string, { before, after }: { before: Task; after: Task }, ctx?: CallContext) {
    const circle = findCycle(id, (await this.list(ctx)).tasks)
    if (circle === undefined) return
    const added = after.dependencies.filter((name) => !before.dependencies.includes(name))
    await this.#change(
      id,
      (task) => ({
        ...task,
        // Only what is still as it was set here: others may have gone on meanwhile.
        status: task.status === after.status ? before.status : task.status,
        owner: task.owner === after.owner ? before.owner : task.owner,
        dependencies: task.dependencies.filter((name) => !added.includes(name)),
      }),
      ctx,
    )
    const detail = `the tasks would wait for each other: ${circle.join(' → ')}; nothing was changed`
    throw new VfsError('EINVAL', this.#getTaskPath(id), { op: 'task_update', detail })
  }

  #parseTask(id: string, text: string | null): Task {
    if (text !== null) return parseTask(text, this.#getTaskPath(id))
    const detail = `there is no task ${JSON.stringify(id)}; task_list shows what there is`
    throw new VfsError('ENOENT', this.#getTaskPath(id), { op: 'task', detail })
  }

  async #findLastId(ctx?: CallContext): Promise<number> {
    return (await this.#listIds(ctx)).at(-1) ?? 0
  }

  async #listIds(ctx?: CallContext): Promise<number[]> {
    const ids: number[] = []
    if (!(await this.#fs.exists(this.#directory, ctx))) return ids
    for await (const { name } of this.#fs.readdir(this.#directory, ctx)) {
      const [, id] = name.match(FILE) ?? []
      if (id !== undefined) ids.push(Number(id))
    }
    return ids.sort((one, other) => one - other)
  }

  #getTaskPath(id: string): string {
    return child(this.#directory, `${id}.json`)
  }
}
