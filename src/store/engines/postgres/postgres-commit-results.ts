/** Results of the commit function. */
export const commitResults = {
  refused: 0,
  accepted: 1,
  /** A collection removed the session: what it read may be gone. */
  fenced: 2,
  /** Its outcome was looked up before it arrived, so it must not be done. */
  settled: 3,
  /** The database may have lost earlier rows of the journal in a crash. */
  crashed: 4,
} as const

/** State of a refusal after the first change: the transaction rolls back. */
export const REFUSED_STATE = 'CP001'

/** Number of lists of checks and of changes: each array begins with the lengths of its lists. */
export const CHECK_LISTS = 3
export const CHANGE_LISTS = 11

/** Returns the number of the lock that commits to a vault share, as SQL. Homes have different ones. */
export function getTurnKey(vault: string): string {
  return `hashtextextended('SCHEMA.turn', ${vault})`
}
