import { z } from 'zod'
import { type ProcessOptions, processOptionShape } from '../../kernel/index.ts'
import { VfsError } from '../../vfs/index.ts'

/** Options of the processes of a job. */
export interface JobOptions extends ProcessOptions {
  /** Vault to fork, or the path of a directory; the current vault when absent. */
  readonly vault?: string | undefined
}

export const jobOptions: z.ZodType<JobOptions> = z.strictObject({
  ...processOptionShape,
  vault: z.string().trim().min(1).optional(),
})

/** A recurring job. */
export interface CronJob {
  readonly id: string
  /** Five fields: minute, hour, day, month, weekday. */
  readonly schedule: string
  readonly timezone: string
  readonly intent: string
  /** Agent that runs the job's process; null for the default agent. */
  readonly agent: string | null
  readonly options: JobOptions
  /** True if a run may start while the previous one is still running. */
  readonly overlap: boolean
  /** Policy for runs missed while the daemon was down: one run for all of them, or none. */
  readonly missed: 'once' | 'skip'
  readonly created_at: string
  readonly last_fired_at: string | null
  readonly last_error: string | null
}

const job: z.ZodType<CronJob> = z.object({
  id: z.string(),
  schedule: z.string(),
  timezone: z.string(),
  intent: z.string(),
  agent: z.string().nullable(),
  // Jobs of older versions have none.
  options: jobOptions.default({}),
  overlap: z.boolean(),
  missed: z.enum(['once', 'skip']),
  created_at: z.iso.datetime(),
  last_fired_at: z.iso.datetime().nullable(),
  last_error: z.string().nullable(),
})

/** Parses a job file. EIO if it is malformed. */
export function parseJob(text: string, path: string): CronJob {
  try {
    return job.parse(JSON.parse(text))
  } catch (cause) {
    const detail = 'the file is not a valid job; repair it or remove it'
    throw new VfsError('EIO', path, { op: 'cron', detail, cause })
  }
}

export function formatJob(job: CronJob): string {
  return `${JSON.stringify(job, null, 2)}\n`
}
