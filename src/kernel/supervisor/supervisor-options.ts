import { z } from 'zod'

const strategies = ['one_for_one', 'one_for_all', 'rest_for_one'] as const
const restarts = ['permanent', 'transient', 'temporary'] as const

/** Strategy that selects the children to restart when one ends. */
export type Strategy = (typeof strategies)[number]

/** Condition for a restart: always, after a failure only, or never. */
export type Restart = (typeof restarts)[number]

/** Options of a supervisor as requests and compositions spell them. */
export interface SupervisorOptions {
  readonly strategy: Strategy
  /** Restarts before it gives up; 3 when absent. */
  readonly max_restarts?: number | undefined
  /** Seconds in which these restarts count; 60 when absent. */
  readonly within?: number | undefined
}

/** The shape of `SupervisorOptions`, for a schema with further keys. */
export const supervisorOptionShape: {
  readonly [Name in keyof Required<SupervisorOptions>]: z.ZodType<SupervisorOptions[Name]>
} = {
  strategy: z.enum(strategies),
  max_restarts: z.int().nonnegative().optional(),
  within: z.number().positive().optional(),
}

export const restartSchema: z.ZodType<Restart> = z.enum(restarts)
