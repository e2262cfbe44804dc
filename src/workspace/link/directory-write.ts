import type { FileOwner } from '../../machine/index.ts'
import { ApplyStage } from './apply-stage.ts'
import type { ApplyStep } from './apply-step.ts'
import type { TreeChange } from './compare-trees.ts'
import { PRIVATE_DIRECTORY_MODE, performStep, revertSteps } from './directory-steps.ts'
import type { HostTree } from './host-tree.ts'
import { isSameEntry, type LinkEntry } from './link-entry.ts'
import { createNewFiles, type FirstNames } from './new-files.ts'
import { createRevertError, createWriteError } from './write-error.ts'

/** Changes to write, with the name of their stage. */
export interface DirectoryWrite {
  readonly stage: string
  readonly changes: readonly TreeChange[]
  readonly names?: FirstNames
}

/**
 * Brings changes into a directory of this machine: all of them or none. Everything new is written beside its place
 * first; then names change hands, and whatever fails is taken back (ENOSPC, EROFS, EACCES, EXDEV, EIO). Should this
 * process be killed in between, the next one takes it back (`takeBackUnfinished`).
 * @param commit notes that all is written; if that fails, everything is taken back.
 */
export function writeDirectory(
  tree: HostTree,
  { stage: stageName, changes, names = new Map() }: DirectoryWrite,
  commit: () => void = () => {},
): void {
  const steps = [
    ...createRemovals(changes),
    ...createReplacements(changes, names),
    ...createAdditions(changes),
  ]
  let stage: ApplyStage | undefined
  let isPlanned = false
  try {
    stage = ApplyStage.create(tree, stageName)
    createNewFiles(tree, stage, findNewEntries(steps, changes), names)
    stage.writePlan(steps)
    isPlanned = true
    for (const step of steps) performStep(tree, stage, step)
    commit()
  } catch (error) {
    // Should this fail too, the stage stays with all that was taken away, and the next command tries again.
    if (stage !== undefined && isPlanned) revertWrite(tree, stage, steps)
    stage?.discard()
    throw createWriteError(tree.path, stageName, error)
  }
  stage.discard()
}

function revertWrite(tree: HostTree, stage: ApplyStage, steps: readonly ApplyStep[]): void {
  try {
    revertSteps(tree, stage, steps)
  } catch (error) {
    stage[Symbol.dispose]()
    throw createRevertError(tree.path, error)
  }
}

/** The changes that bring a file or a link. */
function findNewEntries(
  steps: readonly ApplyStep[],
  changes: readonly TreeChange[],
): (TreeChange & { readonly index: number })[] {
  const brought = new Set(
    steps.map((step) => (step.op === 'replace' || step.op === 'place' ? step.index : -1)),
  )
  return changes.map((change, index) => ({ ...change, index })).filter(({ index }) => brought.has(index))
}

function createRemovals(changes: readonly TreeChange[]): ApplyStep[] {
  const steps: ApplyStep[] = []
  for (const [index, { path, before, after }] of changes.entries()) {
    if (before === undefined || before.type === after?.type) continue
    const { mode } = before
    if (before.type === 'directory') steps.push({ op: 'rmdir', path, mode, owner: toOwner(before) })
    else steps.push({ op: 'take', path, index })
  }
  // What is in a directory goes before it.
  return steps.reverse()
}

function createReplacements(changes: readonly TreeChange[], names: FirstNames): ApplyStep[] {
  return changes.flatMap(({ path, before, after }, index): ApplyStep[] => {
    if (before === undefined || after === undefined || before.type !== after.type) return []
    const isItself = after.type === 'directory' || (!names.has(path) && isModeChangeOnly(before, after))
    if (!isItself) return [{ op: 'replace', path, index }]
    const type = after.type === 'directory' ? 'directory' : 'file'
    return [{ op: 'chmod', path, type, mode: after.mode, old: before.mode }]
  })
}

/** A file that only gets other permissions stays the file it is, with its other names and all that is kept with it. */
function isModeChangeOnly(before: LinkEntry, after: LinkEntry): boolean {
  const { mode, uid, gid, mtime } = before
  const isSameOwner = uid === after.uid && gid === after.gid
  const isSameTime = mtime.seconds === after.mtime.seconds && mtime.nanos === after.mtime.nanos
  return after.type === 'file' && isSameOwner && isSameTime && isSameEntry(before, { ...after, mode })
}

function createAdditions(changes: readonly TreeChange[]): ApplyStep[] {
  const steps: ApplyStep[] = []
  const modes: ApplyStep[] = []
  for (const [index, { path, before, after }] of changes.entries()) {
    if (after === undefined || before?.type === after.type) continue
    if (after.type !== 'directory') steps.push({ op: 'place', path, index })
    else {
      steps.push({ op: 'mkdir', path, owner: toOwner(after) })
      modes.push({ op: 'chmod', path, type: 'directory', mode: after.mode, old: PRIVATE_DIRECTORY_MODE })
    }
  }
  // A directory nobody may write in gets its permissions when everything is in it.
  return [...steps, ...modes.reverse()]
}

function toOwner({ uid, gid }: LinkEntry): FileOwner {
  return { uid, gid }
}
