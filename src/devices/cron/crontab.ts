import { type FileSystem, VfsError } from '../../vfs/index.ts'
import type { CronJob } from './cron-job.ts'
import { JobFiles } from './job-files.ts'
import { findNextRun, parseSchedule } from './schedule.ts'

/** A timer takes no longer waits, and whoever slept meanwhile is to look at the clock again. */
const MAX_WAIT_MS = 60 * 60 * 1000
/** What is this late was missed. */
const GRACE_MS = 60 * 1000
const DEFAULT_LIMIT = 100

export interface Clock {
  now(): Date
  /** Calls back once after a time; returns how to stop that. */
  after(ms: number, fire: () => void): () => void
}

export interface CrontabOptions {
  /** Where the jobs are kept. */
  readonly fs: FileSystem
  /** The directory in it; `/cron` when absent. */
  readonly directory?: string
  /** Runs a process for a job; settled when that has ended. */
  readonly spawn: (intent: string, job: CronJob) => Promise<void>
  readonly clock?: Clock
  /** Of jobs that name none; UTC when absent. */
  readonly timezone?: string
  /** How many jobs there may be. */
  readonly limit?: number
}

/** A job, and what is ahead of it. */
export interface ListedJob extends CronJob {
  readonly next_run: string | null
  /** How many processes of it run. */
  readonly running: number
  /** How often it did not begin since its last process still ran, since the start. */
  readonly skipped: number
}

interface ScheduledJob {
  job: CronJob
  nextAt: Date | undefined
  running: number
  skipped: number
}

type JobSpec = Pick<CronJob, 'schedule' | 'intent' | 'agent' | 'overlap' | 'missed'>

/**
 * Jobs, fired when they are due. Firings that were missed, because nothing ran or the machine slept, count as one, which
 * is made up for at once, or as none, as the job has it.
 */
export class Crontab {
  readonly #files: JobFiles
  readonly #spawn: CrontabOptions['spawn']
  readonly #clock: Clock
  readonly #timezone: string
  readonly #limit: number
  readonly #entries = new Map<string, ScheduledJob>()
  #faults: readonly string[] = []
  #stopTimer: (() => void) | undefined
  #isStarted = false

  constructor(options: CrontabOptions) {
    this.#files = new JobFiles(options.fs, options.directory ?? '/cron')
    this.#spawn = options.spawn
    this.#clock = options.clock ?? systemClock
    this.#timezone = options.timezone ?? 'UTC'
    this.#limit = options.limit ?? DEFAULT_LIMIT
  }

  /** Takes up all jobs there are. */
  async start(): Promise<void> {
    const { jobs, faults } = await this.#files.load()
    this.#isStarted = true
    this.#faults = [...faults, ...jobs.flatMap((job) => this.#trySchedule(job))]
    this.#fireDue()
  }

  /** Fires no more; processes that run go on. */
  stop(): void {
    this.#isStarted = false
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }

  /** EINVAL for a schedule or time zone that is none, ENOSPC. */
  async create(spec: JobSpec & { readonly timezone?: string | undefined }): Promise<ListedJob> {
    const now = this.#clock.now()
    const timezone = spec.timezone ?? this.#timezone
    const schedule = parseSchedule(spec.schedule, timezone, now)
    if (this.#entries.size >= this.#limit) {
      const detail = `there are ${this.#limit} jobs already; delete one first`
      throw new VfsError('ENOSPC', '/dev/cron', { op: 'cron_create', detail })
    }
    const notYet = { created_at: now.toISOString(), last_fired_at: null, last_error: null }
    const job = await this.#files.create({ ...spec, schedule, timezone, ...notYet })
    const entry = this.#schedule(job, now)
    this.#arm()
    return toListedJob(entry)
  }

  list(): { jobs: ListedJob[]; faults: readonly string[] } {
    return { jobs: [...this.#entries.values()].map(toListedJob), faults: this.#faults }
  }

  /** ENOENT. A process of it that runs goes on. */
  async delete(id: string): Promise<void> {
    await this.#files.remove(id)
    this.#entries.delete(id)
    this.#arm()
  }

  /** What is wrong with a job that somebody edited; nothing for one that is taken up. */
  #trySchedule(job: CronJob): string[] {
    try {
      this.#schedule(job, new Date(job.last_fired_at ?? job.created_at))
      return []
    } catch (error) {
      return [`job ${job.id}: ${getErrorMessage(error)}`]
    }
  }

  #schedule(job: CronJob, after: Date): ScheduledJob {
    const entry: ScheduledJob = {
      job,
      nextAt: findNextRun(job.schedule, job.timezone, after),
      running: 0,
      skipped: 0,
    }
    this.#entries.set(job.id, entry)
    return entry
  }

  #arm(): void {
    this.#stopTimer?.()
    const next = Math.min(
      ...[...this.#entries.values()].map(({ nextAt }) => nextAt?.getTime() ?? Number.POSITIVE_INFINITY),
    )
    if (!this.#isStarted || !Number.isFinite(next)) return
    const wait = Math.max(0, next - this.#clock.now().getTime())
    this.#stopTimer = this.#clock.after(Math.min(wait, MAX_WAIT_MS), () => this.#fireDue())
  }

  #fireDue(): void {
    const now = this.#clock.now()
    for (const entry of this.#entries.values()) {
      const { job, nextAt } = entry
      if (nextAt === undefined || nextAt > now) continue
      const isMissed = now.getTime() - nextAt.getTime() > GRACE_MS
      entry.nextAt = findNextRun(job.schedule, job.timezone, now)
      if (!isMissed || job.missed === 'once') void this.#fire(entry, now)
    }
    this.#arm()
  }

  async #fire(entry: ScheduledJob, now: Date): Promise<void> {
    if (entry.running > 0 && !entry.job.overlap) {
      entry.skipped++
      return
    }
    entry.running++
    try {
      const fired = await this.#files.change(entry.job.id, { last_fired_at: now.toISOString() })
      if (fired === undefined) this.#entries.delete(entry.job.id)
      else await this.#run(entry, fired)
    } catch (error) {
      entry.job = { ...entry.job, last_error: getErrorMessage(error) }
    } finally {
      entry.running--
    }
  }

  async #run(entry: ScheduledJob, job: CronJob): Promise<void> {
    entry.job = job
    const failure = await this.#spawn(job.intent, job).then(() => null, getErrorMessage)
    if (failure === job.last_error) return
    entry.job = (await this.#files.change(job.id, { last_error: failure })) ?? job
  }
}

function toListedJob({ job, nextAt, running, skipped }: ScheduledJob): ListedJob {
  return { ...job, next_run: nextAt?.toISOString() ?? null, running, skipped }
}

function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const systemClock: Clock = {
  now: () => new Date(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}
