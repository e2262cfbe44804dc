import type { Conflicts } from './conflict.ts'
import type { Contents } from './contents.ts'
import type { Draft } from './draft.ts'
import type { MergeSides } from './sides.ts'
import type { Places } from './tracks.ts'

/** What every step of a merge works with: the trees, the operations so far, the conflicts so far. */
export interface MergeParts {
  readonly sides: MergeSides
  readonly draft: Draft
  readonly conflicts: Conflicts
  readonly places: Places
  readonly contents: Contents
}
