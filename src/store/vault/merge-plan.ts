import type { FileOperation } from '../files/operation.ts'
import type { BlobStore } from './blob-store.ts'
import { ContentMerger } from './merge/content-merger.ts'
import { createInodeMatchers } from './merge/inode-matchers.ts'
import { listInodeTriples, SideDentries } from './merge/inode-triples.ts'
import { type ConflictOptions, Conflicts, type MergeConflict } from './merge/merge-conflicts.ts'
import { MergeDraft } from './merge/merge-draft.ts'
import type { MergeSides } from './merge/merge-sides.ts'
import { MoveApplier } from './merge/move-applier.ts'
import { MovePlanner } from './merge/move-planner.ts'
import { RemovalApplier } from './merge/removal-applier.ts'

export {
  type ConflictOptions,
  type MergeConflict,
  MergeError,
  type OnConflict,
  type Resolution,
  type ResolvedText,
} from './merge/merge-conflicts.ts'

/**
 * Plans the operations that apply their changes to our tree, and collects the conflicts.
 *
 * Matches files by identity, not by path: a file we moved gets their changes at its new path. Content, path and
 * labels merge separately. A directory has no content to lose: it is removed when empty, and created again when an
 * entry needs it. Time is proportional to their changes, independent of ours.
 */
export class MergePlan {
  readonly operations: readonly FileOperation[]
  readonly conflicts: readonly MergeConflict[]

  constructor(sides: MergeSides, blobs: BlobStore, options: ConflictOptions) {
    const [matchers, draft, conflicts] = [
      createInodeMatchers(sides),
      new MergeDraft(sides.ours),
      new Conflicts(sides, options),
    ]
    const contents = new ContentMerger(sides, blobs, draft, conflicts)
    const context = {
      sides,
      matchers,
      draft,
      conflicts,
      contents,
      dentries: new SideDentries(sides, matchers),
    }
    const removals = new RemovalApplier(context)
    const moves = new MoveApplier({ ...context, removals })
    const triples = listInodeTriples(sides, matchers)
    removals.begin(triples)
    moves.applyMoves(new MovePlanner(context).planMoves(triples))
    moves.createEmptyDirectories(triples)
    for (const triple of triples) {
      const { base, theirs } = triple
      const ours = moves.findOursToMerge(triple)
      if (ours !== undefined && theirs !== undefined) contents.merge({ base, ours, theirs })
    }
    removals.finish()
    this.operations = draft.operations
    this.conflicts = conflicts.listByPath()
  }
}
