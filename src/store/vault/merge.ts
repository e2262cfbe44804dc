import type { FileOperation } from '../files/operation.ts'
import type { Blobs } from './blobs.ts'
import { Conflicts, type MergeConflict, type OnConflict } from './merge/conflict.ts'
import { Contents } from './merge/contents.ts'
import { kinshipOf } from './merge/counterparts.ts'
import { Draft } from './merge/draft.ts'
import { Placement } from './merge/placement.ts'
import { Placings } from './merge/placings.ts'
import { Removals } from './merge/removals.ts'
import type { MergeSides } from './merge/sides.ts'
import { Places, tracksOf } from './merge/tracks.ts'

export { type MergeConflict, MergeError, type OnConflict } from './merge/conflict.ts'

/**
 * The operations that bring their changes to our tree, and the conflicts that stand in the way.
 *
 * Files are followed by what they are, not by their paths: what we moved gets their changes where it is now. Each of
 * content, place and labels is merged by itself. A directory has nothing of its own to lose: it goes when it is empty,
 * and is made again when something has to be in it. The time is proportional to their changes, whatever ours are.
 */
export class MergePlan {
  readonly operations: readonly FileOperation[]
  readonly conflicts: readonly MergeConflict[]

  constructor(sides: MergeSides, blobs: Blobs, onConflict: OnConflict) {
    const [kin, draft, conflicts] = [
      kinshipOf(sides),
      new Draft(sides.ours),
      new Conflicts(sides, onConflict),
    ]
    const contents = new Contents(sides, blobs, draft, conflicts)
    const parts = { sides, kin, draft, conflicts, contents, places: new Places(sides, kin) }
    const removals = new Removals(parts)
    const placement = new Placement({ ...parts, removals })
    const tracks = tracksOf(sides, kin)
    removals.start(tracks)
    placement.run(new Placings(parts).of(tracks))
    placement.complete(tracks)
    for (const track of tracks) {
      const { base, theirs } = track
      const ours = placement.pairOf(track)
      if (ours !== undefined && theirs !== undefined) contents.merge({ base, ours, theirs })
    }
    removals.finish()
    this.operations = draft.operations
    this.conflicts = conflicts.sorted()
  }
}
