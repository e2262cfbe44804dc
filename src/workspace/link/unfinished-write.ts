import { ApplyStage } from './apply-stage.ts'
import { revertSteps } from './directory-steps.ts'
import type { HostTree } from './host-tree.ts'

/** Reverts an unfinished write to a directory; false if nothing had been written. */
export function revertUnfinished(tree: HostTree, stageName: string): boolean {
  const stage = ApplyStage.open(tree, stageName)
  if (stage === undefined) return false
  const steps = stage.readPlan()
  if (steps !== undefined) revertSteps(tree, stage, steps)
  stage.discard()
  return steps !== undefined
}

/**
 * Removes the stage of a write that is complete. Returns false if that fails: the write is valid nevertheless, and the
 * stage can be removed later.
 * @param home takes replaced files whose removal would take long.
 */
export function discardStage(tree: HostTree, stageName: string, home?: string): boolean {
  try {
    ApplyStage.open(tree, stageName)?.discard(home)
    return true
  } catch {
    return false
  }
}
