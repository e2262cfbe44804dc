import type { LinePattern } from '../../vfs/index.ts'

/** What to look for, and how many lines to show around it. */
export interface GrepQuery {
  readonly pattern: string | LinePattern
  readonly before: number
  readonly after: number
}
