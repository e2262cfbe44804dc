import type { LinePattern } from '../../vfs/index.ts'

/** Pattern of a search and the number of context lines. */
export interface GrepQuery {
  readonly pattern: string | LinePattern
  readonly before: number
  readonly after: number
}
