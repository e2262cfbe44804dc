import { z } from 'zod'
import type { Device } from '../../kernel/index.ts'
import { defineOperation, operationsDevice } from '../operation/index.ts'
import { jobOptions } from './cron-job.ts'
import type { Crontab } from './crontab.ts'

const MAX_INTENT_CHARACTERS = 10_000

const jobId = z
  .union([z.string().regex(/^\d+$/, 'the number of a job'), z.int().positive()])
  .describe('The number of a job.')
  .transform(String)

const jobSpec = z.strictObject({
  schedule: z.string().max(200).describe('minute hour day month weekday, such as `0 9 * * 1-5`, or @daily.'),
  intent: z.string().trim().min(1).max(MAX_INTENT_CHARACTERS).describe('The task for each process.'),
  timezone: z.string().max(100).optional().describe('Such as Europe/Berlin; UTC when absent.'),
  agent: z.string().min(1).nullable().default(null).describe('The agent to use.'),
  options: jobOptions.default({}).describe('Options of each process, as of spawn.'),
  overlap: z.boolean().default(false).describe('True if a run may start while the previous one still runs.'),
  missed: z
    .enum(['once', 'skip'])
    .default('once')
    .describe('Policy for missed runs: one run for all of them, or none.'),
})

/** Creates the device that lists, creates and deletes recurring jobs. */
export function cronDevice(crontab: Crontab): Device {
  return operationsDevice('/dev/cron', {
    cron_create: defineOperation({
      description: 'Spawns a process on a schedule, until the job is deleted.',
      schema: jobSpec,
      run: (spec) => crontab.create(spec),
    }),
    cron_list: defineOperation({
      description: 'Lists all recurring jobs with their next run.',
      schema: z.strictObject({}),
      run: async () => crontab.list(),
    }),
    cron_delete: defineOperation({
      description: 'Deletes a recurring job.',
      schema: z.strictObject({ id: jobId }),
      run: async ({ id }) => {
        await crontab.delete(id)
        return { deleted: id }
      },
    }),
  })
}
