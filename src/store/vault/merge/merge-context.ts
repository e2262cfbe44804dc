import type { ContentMerger } from './content-merger.ts'
import type { SideDentries } from './inode-triples.ts'
import type { Conflicts } from './merge-conflicts.ts'
import type { MergeDraft } from './merge-draft.ts'
import type { MergeSides } from './merge-sides.ts'

/** State shared by all steps of a merge: the trees, the operations and the conflicts so far. */
export interface MergeContext {
  readonly sides: MergeSides
  readonly draft: MergeDraft
  readonly conflicts: Conflicts
  readonly dentries: SideDentries
  readonly contents: ContentMerger
}
