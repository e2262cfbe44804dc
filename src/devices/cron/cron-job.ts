import { z } from 'zod'
import { VfsError } from '../../vfs/index.ts'

/** What is to happen again and again. */
export interface CronJob {
  readonly id: string
  /** Five fields: minute, hour, day, month, weekday. */
  readonly schedule: string
  readonly timezone: string
  readonly intent: string
  /** The agent whose process it becomes; null for none in particular. */
  readonly agent: string | null
  /** Whether it may begin while its last process still runs. */
  readonly overlap: boolean
  /** What becomes of firings nobody was there for: one for all of them, or none. */
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
  overlap: z.boolean(),
  missed: z.enum(['once', 'skip']),
  created_at: z.iso.datetime(),
  last_fired_at: z.iso.datetime().nullable(),
  last_error: z.string().nullable(),
})

/** A job as a file has it. EIO for a file that is none. */
export function parseJob(text: string, path: string): CronJob {
  try {
    return job.parse(JSON.parse(text))
  } catch (cause) {
    const detail = 'the file is no job any more; repair it or remove it'
    throw new VfsError('EIO', path, { op: 'cron', detail, cause })
  }
}

export function formatJob(job: CronJob): string {
  return `${JSON.stringify(job, null, 2)}\n`
}
