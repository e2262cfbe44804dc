import type { Owner } from '../../machine/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { PRIVATE_DIRECTORY, performStep, takeBackSteps } from './directory-steps.ts'
import { type Entry, isSameEntry } from './entry.ts'
import type { HostTree } from './host-tree.ts'
import { type FirstNames, makeNewFiles } from './new-files.ts'
import { Stage } from './stage.ts'
import type { Step } from './step.ts'
import { notTakenBack, notWritten } from './write-failure.ts'

/** What is to be written, and under which name it is staged meanwhile. */
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
  const steps = [...removals(changes), ...replacements(changes, names), ...additions(changes)]
  let stage: Stage | undefined
  let isPlanned = false
  try {
    stage = Stage.make(tree, stageName)
    makeNewFiles(tree, stage, broughtBy(steps, changes), names)
    stage.writePlan(steps)
    isPlanned = true
    for (const step of steps) performStep(tree, stage, step)
    commit()
  } catch (error) {
    // Should this fail too, the stage stays with all that was taken away, and the next command tries again.
    if (stage !== undefined && isPlanned) takeBack(tree, stage, steps)
    stage?.discard()
    throw notWritten(tree.path, stageName, error)
  }
  stage.discard()
}

function takeBack(tree: HostTree, stage: Stage, steps: readonly Step[]): void {
  try {
    takeBackSteps(tree, stage, steps)
  } catch (error) {
    stage[Symbol.dispose]()
    throw notTakenBack(tree.path, error)
  }
}

/** The changes that bring a file or a link. */
function broughtBy(
  steps: readonly Step[],
  changes: readonly TreeChange[],
): (TreeChange & { readonly index: number })[] {
  const brought = new Set(
    steps.map((step) => (step.op === 'replace' || step.op === 'place' ? step.index : -1)),
  )
  return changes.map((change, index) => ({ ...change, index })).filter(({ index }) => brought.has(index))
}

function removals(changes: readonly TreeChange[]): Step[] {
  const steps: Step[] = []
  for (const [index, { path, before, after }] of changes.entries()) {
    if (before === undefined || before.type === after?.type) continue
    const { mode } = before
    if (before.type === 'directory') steps.push({ op: 'rmdir', path, mode, owner: ownerOf(before) })
    else steps.push({ op: 'take', path, index })
  }
  // What is in a directory goes before it.
  return steps.reverse()
}

function replacements(changes: readonly TreeChange[], names: FirstNames): Step[] {
  return changes.flatMap(({ path, before, after }, index): Step[] => {
    if (before === undefined || after === undefined || before.type !== after.type) return []
    const isItself = after.type === 'directory' || (!names.has(path) && isOnlyMode(before, after))
    if (!isItself) return [{ op: 'replace', path, index }]
    const type = after.type === 'directory' ? 'directory' : 'file'
    return [{ op: 'chmod', path, type, mode: after.mode, old: before.mode }]
  })
}

/** A file that only gets other permissions stays the file it is, with its other names and all that is kept with it. */
function isOnlyMode(before: Entry, after: Entry): boolean {
  const { mode, uid, gid, mtime } = before
  const isSameOwner = uid === after.uid && gid === after.gid
  const isSameTime = mtime.seconds === after.mtime.seconds && mtime.nanos === after.mtime.nanos
  return after.type === 'file' && isSameOwner && isSameTime && isSameEntry(before, { ...after, mode })
}

function additions(changes: readonly TreeChange[]): Step[] {
  const steps: Step[] = []
  const modes: Step[] = []
  for (const [index, { path, before, after }] of changes.entries()) {
    if (after === undefined || before?.type === after.type) continue
    if (after.type !== 'directory') steps.push({ op: 'place', path, index })
    else {
      steps.push({ op: 'mkdir', path, owner: ownerOf(after) })
      modes.push({ op: 'chmod', path, type: 'directory', mode: after.mode, old: PRIVATE_DIRECTORY })
    }
  }
  // A directory nobody may write in gets its permissions when everything is in it.
  return [...steps, ...modes.reverse()]
}

function ownerOf({ uid, gid }: Entry): Owner {
  return { uid, gid }
}
