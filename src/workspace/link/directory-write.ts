import { ApplyStage } from './apply-stage.ts'
import type { ApplyStep } from './apply-step.ts'
import type { TreeChange } from './compare-trees.ts'
import { performStep, revertSteps } from './directory-steps.ts'
import type { HostTree } from './host-tree.ts'
import { createNewFiles, type FirstNames } from './new-files.ts'
import { planSteps } from './plan-steps.ts'
import { discardStage } from './unfinished-write.ts'
import { createRevertError, createWriteError } from './write-error.ts'

/** Changes to write, with the name of their stage. */
export interface DirectoryWrite {
  readonly stage: string
  readonly changes: readonly TreeChange[]
  readonly names?: FirstNames
  /** The directory of a home, which takes replaced files whose removal would take long. */
  readonly home?: string | undefined
}

/**
 * Writes changes into a directory of this machine: all or none. First it writes all new entries to the stage, then it
 * renames them into place. After a failure, such as ENOSPC or EACCES, it reverts everything and throws. If this process
 * is killed, the next one reverts it (`revertUnfinished`).
 * @param commit records that everything is written; if it fails, everything is reverted.
 */
export function writeDirectory(
  tree: HostTree,
  { stage: stageName, changes, names = new Map(), home }: DirectoryWrite,
  commit: () => void = () => {},
): void {
  let stage: ApplyStage | undefined
  let planned: readonly ApplyStep[] | undefined
  try {
    const steps = planSteps(tree, changes, names)
    const created = ApplyStage.create(tree, stageName)
    stage = created
    tree.visitTogether(() => createNewFiles(tree, created, findNewEntries(steps, changes), names))
    stage.writePlan(steps)
    planned = steps
    tree.visitTogether(() => {
      for (const step of steps) performStep(tree, created, step)
    })
    commit()
  } catch (error) {
    // If the revert fails too, the stage keeps all old entries, and the next command retries.
    if (stage !== undefined && planned !== undefined) revertWrite(tree, stage, planned)
    stage?.discard()
    throw createWriteError(tree.path, stageName, error)
  }
  stage[Symbol.dispose]()
  // Everything is written. If the stage cannot be removed, `discardStage` tries again later.
  discardStage(tree, stageName, home)
}

function revertWrite(tree: HostTree, stage: ApplyStage, steps: readonly ApplyStep[]): void {
  try {
    revertSteps(tree, stage, steps)
  } catch (error) {
    stage[Symbol.dispose]()
    throw createRevertError(tree.path, error)
  }
}

/** Returns the changes that create a file or a link. */
function findNewEntries(
  steps: readonly ApplyStep[],
  changes: readonly TreeChange[],
): (TreeChange & { readonly index: number })[] {
  const created = new Set(
    steps.map((step) => (step.op === 'replace' || step.op === 'place' ? step.index : -1)),
  )
  return changes.map((change, index) => ({ ...change, index })).filter(({ index }) => created.has(index))
}
