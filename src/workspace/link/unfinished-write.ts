import { ApplyStage } from './apply-stage.ts'
import { revertSteps } from './directory-steps.ts'
import type { HostTree } from './host-tree.ts'

/** Takes back what was begun in a directory and never finished; false if nothing of it had been written. */
export function revertUnfinished(tree: HostTree, stageName: string): boolean {
  const stage = ApplyStage.open(tree, stageName)
  if (stage === undefined) return false
  const steps = stage.readPlan()
  if (steps !== undefined) revertSteps(tree, stage, steps)
  stage.discard()
  return steps !== undefined
}

/** Removes what is left of an apply of which all was written. */
export function discardStage(tree: HostTree, stageName: string): void {
  ApplyStage.open(tree, stageName)?.discard()
}
