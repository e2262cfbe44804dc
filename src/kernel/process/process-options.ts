import { z } from 'zod'

/** Options of a process as requests, cron jobs and compositions spell them; absent ones have the defaults of the home. */
export interface ProcessOptions {
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Limit in tokens; 0 for none. */
  readonly budget?: number | undefined
  /** Skills in addition to the agent's. */
  readonly skills?: readonly string[] | undefined
  /** Tools in addition to the default ones, by name or device path. */
  readonly tools?: readonly string[] | undefined
  readonly max_steps?: number | undefined
  /** Groups to join, which are signalled as one; those of the parent in addition. */
  readonly groups?: readonly string[] | undefined
}

const nonEmptyString = z.string().trim().min(1)
const groupName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_.-]*$/, 'a group is named by a letter, then letters, digits, _, . and -')

/** The shape of `ProcessOptions`, for a schema with further keys. */
export const processOptionShape: {
  readonly [Name in keyof Required<ProcessOptions>]: z.ZodType<ProcessOptions[Name]>
} = {
  provider: nonEmptyString.optional(),
  model: nonEmptyString.optional(),
  budget: z.int().nonnegative().optional(),
  skills: z.array(nonEmptyString).optional(),
  tools: z.array(nonEmptyString).optional(),
  max_steps: z.int().positive().optional(),
  groups: z.array(groupName).optional(),
}
