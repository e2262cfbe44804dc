/** Exit code and reason of a process. */
export interface ExitStatus {
  /** 0 for success, 1 for an error, 2 for an exhausted budget. */
  readonly code: number
  readonly reason: string
}

export const EXIT_DONE = 0
const EXIT_ERROR = 1
export const EXIT_BUDGET = 2

export function createFailure(reason: string): ExitStatus {
  return { code: EXIT_ERROR, reason }
}
