import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TreeFiles } from './tree.ts'

/** A unit of work on a tree, with the number of bytes it stores. May run more than once, from its beginning. */
export interface TreeWork {
  readonly bytes: number
  run(tree: TreeFiles): void
}

/** A batch is held in memory until its commit. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024
const MAX_BATCH_STEPS = 20_000

/**
 * Performs all work: in one commit if it is small enough, otherwise in batches that let other tasks run in between.
 */
export async function performWork(tree: TreeFiles, work: readonly TreeWork[]): Promise<void> {
  for (const group of groupWork(work)) {
    const [only] = group
    // A file too large for memory is stored in pieces.
    if (only !== undefined && only.bytes > MAX_BATCH_BYTES) only.run(tree)
    else {
      tree.batch(() =>
        tree.readTogether(() => {
          for (const step of group) step.run(tree)
        }),
      )
    }
    await nextTurn()
  }
}

function* groupWork(work: readonly TreeWork[]): Generator<TreeWork[]> {
  let group: TreeWork[] = []
  let bytes = 0
  for (const step of work) {
    if (group.length >= MAX_BATCH_STEPS || (group.length > 0 && bytes + step.bytes > MAX_BATCH_BYTES)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(step)
    bytes += step.bytes
  }
  if (group.length > 0) yield group
}
