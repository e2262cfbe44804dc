import { takeBackSteps } from './directory-steps.ts'
import type { HostTree } from './host-tree.ts'
import { Stage } from './stage.ts'

/** Takes back what was begun in a directory and never finished; false if nothing of it had been written. */
export function takeBackUnfinished(tree: HostTree, stageName: string): boolean {
  const stage = Stage.open(tree, stageName)
  if (stage === undefined) return false
  const steps = stage.readPlan()
  if (steps !== undefined) takeBackSteps(tree, stage, steps)
  stage.discard()
  return steps !== undefined
}

/** Removes what is left of an apply of which all was written. */
export function discardStage(tree: HostTree, stageName: string): void {
  Stage.open(tree, stageName)?.discard()
}
