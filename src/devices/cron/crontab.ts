import { type FileSystem, VfsError } from '../../vfs/index.ts'
import type { CronJob } from './cron-job.ts'
import { JobFiles } from './job-files.ts'
import { findNextRun, parseSchedule } from './schedule.ts'

/** Longest wait of one timer: timers have an upper limit, and after a suspend the clock must be read again. */
const MAX_WAIT_MS = 60 * 60 * 1000
/** A run later than this counts as missed. */
const GRACE_MS = 60 * 1000
const DEFAULT_LIMIT = 100

/** Source of the time and of timers. */
export interface Clock {
  now(): Date
  /** Calls back once after a delay; returns a function that cancels it. */
  after(ms: number, fire: () => void): () => void
}

/** Options of a `Crontab`. */
export interface CrontabOptions {
  /** File system that stores the jobs. */
  readonly fs: FileSystem
  /** Directory of the jobs; `/cron` when absent. */
  readonly directory?: string
  /** Runs a process for a job; settles when the process has ended. */
  readonly spawn: (intent: string, job: CronJob) => Promise<void>
  readonly clock?: Clock
  /** Time zone of jobs that name none; UTC when absent. */
  readonly timezone?: string
  /** Maximum number of jobs; 100 when absent. */
  readonly limit?: number
}

/** A job with its next run and its counters. */
export interface ListedJob extends CronJob {
  readonly next_run: string | null
  /** Number of running processes of this job. */
  readonly running: number
  /** Runs skipped since the start because the previous process was still running. */
  readonly skipped: number
}

interface ScheduledJob {
  job: CronJob
  nextAt: Date | undefined
  running: number
  skipped: number
}

type JobSpec = Pick<CronJob, 'schedule' | 'intent' | 'agent' | 'overlap' | 'missed'> &
  Partial<Pick<CronJob, 'options'>>

/**
 * Runs jobs when they are due. Runs that were missed, because the daemon was down or the machine slept, count as one.
 * The job's policy decides whether that one runs at once or is skipped.
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

  /** Loads and schedules all stored jobs. */
  async start(): Promise<void> {
    const { jobs, faults } = await this.#files.load()
    this.#isStarted = true
    this.#faults = [...faults, ...jobs.flatMap((job) => this.#trySchedule(job))]
    this.#fireDue()
  }

  /** Stops scheduling; running processes continue. */
  stop(): void {
    this.#isStarted = false
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }

  /** Creates a job. EINVAL for an invalid schedule or time zone, ENOSPC at the limit. */
  async create(spec: JobSpec & { readonly timezone?: string | undefined }): Promise<ListedJob> {
    const now = this.#clock.now()
    const timezone = spec.timezone ?? this.#timezone
    const schedule = parseSchedule(spec.schedule, timezone, now)
    if (this.#entries.size >= this.#limit) {
      const detail = `there are ${this.#limit} jobs already; delete one first`
      throw new VfsError('ENOSPC', '/dev/cron', { op: 'cron_create', detail })
    }
    const runState = { created_at: now.toISOString(), last_fired_at: null, last_error: null }
    const { options = {} } = spec
    const job = await this.#files.create({ ...spec, options, schedule, timezone, ...runState })
    const entry = this.#schedule(job, now)
    this.#arm()
    return toListedJob(entry)
  }

  /** Lists the scheduled jobs, and the problems of stored jobs that could not be scheduled. */
  list(): { jobs: ListedJob[]; faults: readonly string[] } {
    return { jobs: [...this.#entries.values()].map(toListedJob), faults: this.#faults }
  }

  /** Deletes a job; its running processes continue. ENOENT if there is none. */
  async delete(id: string): Promise<void> {
    await this.#files.remove(id)
    this.#entries.delete(id)
    this.#arm()
  }

  /** Schedules a job that a person may have edited; returns the problems found, or none. */
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

  /** Sets the timer for the next run. */
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
      const firedJob = await this.#files.change(entry.job.id, { last_fired_at: now.toISOString() })
      if (firedJob === undefined) this.#entries.delete(entry.job.id)
      else await this.#run(entry, firedJob)
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
