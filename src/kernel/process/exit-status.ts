/** How a process ended. */
export interface ExitStatus {
  /** 0 done, 1 error, 2 out of budget. */
  readonly code: number
  readonly reason: string
}

export const EXIT_DONE = 0
const EXIT_ERROR = 1
export const EXIT_BUDGET = 2

export function createFailure(reason: string): ExitStatus {
  return { code: EXIT_ERROR, reason }
}
