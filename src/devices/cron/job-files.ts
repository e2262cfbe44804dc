import { child, type FileSystem, isVfsError, readText, VfsError } from '../../vfs/index.ts'
import { changeText } from '../stored/index.ts'
import { type CronJob, formatJob, parseJob } from './cron-job.ts'

const JOB_FILE = /^([1-9]\d{0,8})\.json$/

/** Jobs as files of a directory: `1.json`, `2.json`, …. */
export class JobFiles {
  readonly #fs: FileSystem
  readonly #directory: string

  constructor(fs: FileSystem, directory: string) {
    this.#fs = fs
    this.#directory = directory
  }

  /** Reads every job; reports the files that cannot be parsed. */
  async load(): Promise<{ jobs: CronJob[]; faults: string[] }> {
    const jobs: CronJob[] = []
    const faults: string[] = []
    for (const id of await this.#listIds()) {
      const path = this.#getJobPath(id)
      try {
        jobs.push(parseJob(await readText(this.#fs, path), path))
      } catch (error) {
        if (!isVfsError(error, 'EIO')) throw error
        faults.push(error.message)
      }
    }
    return { jobs, faults }
  }

  /** Stores a new job under the next free number. */
  async create(spec: Omit<CronJob, 'id'>): Promise<CronJob> {
    for (let number = Math.max(0, ...(await this.#listIds()).map(Number)) + 1; ; number++) {
      const job: CronJob = { id: String(number), ...spec }
      try {
        await this.#fs.write(this.#getJobPath(job.id), formatJob(job), { ifMatch: null })
        return job
      } catch (error) {
        if (!isVfsError(error, 'ECONFLICT')) throw error
      }
    }
  }

  /** Updates a job and returns it; undefined if it was deleted, and then it stays deleted. */
  async change(id: string, change: Partial<CronJob>): Promise<CronJob | undefined> {
    const path = this.#getJobPath(id)
    let changed: CronJob | undefined
    await changeText(this.#fs, path, (text) => {
      changed = text === null ? undefined : { ...parseJob(text, path), ...change }
      return changed === undefined ? null : formatJob(changed)
    })
    return changed
  }

  /** Removes a job. ENOENT if there is none. */
  async remove(id: string): Promise<void> {
    try {
      await this.#fs.remove(this.#getJobPath(id))
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      const detail = `there is no job ${JSON.stringify(id)}; see cron_list`
      throw new VfsError('ENOENT', this.#getJobPath(id), { op: 'cron_delete', detail })
    }
  }

  async #listIds(): Promise<string[]> {
    const ids: string[] = []
    if (!(await this.#fs.exists(this.#directory))) return ids
    for await (const { name } of this.#fs.readdir(this.#directory)) {
      const [, id] = name.match(JOB_FILE) ?? []
      if (id !== undefined) ids.push(id)
    }
    return ids.sort((one, other) => Number(one) - Number(other))
  }

  #getJobPath(id: string): string {
    return child(this.#directory, `${id}.json`)
  }
}
