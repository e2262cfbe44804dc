import type { FileOwner } from '../../machine/index.ts'
import { ApplyStage } from './apply-stage.ts'
import type { ApplyStep } from './apply-step.ts'
import type { TreeChange } from './compare-trees.ts'
import { PRIVATE_DIRECTORY_MODE, performStep, revertSteps } from './directory-steps.ts'
import type { HostTree } from './host-tree.ts'
import { isSameEntry, type LinkEntry } from './link-entry.ts'
import { createNewFiles, type FirstNames } from './new-files.ts'
import { createRevertError, createWriteError } from './write-error.ts'

/** Write and search permission of the owner. */
const OWNER_CHANGE_BITS = 0o300

type ChmodStep = Extract<ApplyStep, { op: 'chmod' }>

/** Changes to write, with the name of their stage. */
export interface DirectoryWrite {
  readonly stage: string
  readonly changes: readonly TreeChange[]
  readonly names?: FirstNames
}

/**
 * Writes changes into a directory of this machine: all or none. First it writes all new entries to the stage, then it
 * renames them into place. After a failure, such as ENOSPC or EACCES, it reverts everything and throws. If this process
 * is killed, the next one reverts it (`revertUnfinished`).
 * @param commit records that everything is written; if it fails, everything is reverted.
 */
export function writeDirectory(
  tree: HostTree,
  { stage: stageName, changes, names = new Map() }: DirectoryWrite,
  commit: () => void = () => {},
): void {
  const steps = createSteps(changes, names)
  let stage: ApplyStage | undefined
  let isPlanned = false
  try {
    const created = ApplyStage.create(tree, stageName)
    stage = created
    tree.visitTogether(() => createNewFiles(tree, created, findNewEntries(steps, changes), names))
    stage.writePlan(steps)
    isPlanned = true
    tree.visitTogether(() => {
      for (const step of steps) performStep(tree, created, step)
    })
    commit()
  } catch (error) {
    // If the revert fails too, the stage keeps all old entries, and the next command retries.
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

function createSteps(changes: readonly TreeChange[], names: FirstNames): ApplyStep[] {
  const modes = createDirectoryModes(changes)
  return [
    // A directory opens before its entries change, and closes after that.
    ...modes.filter(({ mode }) => !isClosed(mode)),
    ...createRemovals(changes),
    ...createReplacements(changes, names),
    ...createAdditions(changes),
    ...modes.filter(({ mode }) => isClosed(mode)).reverse(),
  ]
}

function createDirectoryModes(changes: readonly TreeChange[]): ChmodStep[] {
  return changes.flatMap(({ path, before, after }): ChmodStep[] => {
    if (before?.type !== 'directory' || after?.type !== 'directory') return []
    return [{ op: 'chmod', path, type: 'directory', mode: after.mode, old: before.mode }]
  })
}

/** True if the owner of a directory with these permissions cannot change its entries. */
function isClosed(mode: number): boolean {
  return (mode & OWNER_CHANGE_BITS) !== OWNER_CHANGE_BITS
}

function createRemovals(changes: readonly TreeChange[]): ApplyStep[] {
  const steps: ApplyStep[] = []
  for (const [index, { path, before, after }] of changes.entries()) {
    if (before === undefined || before.type === after?.type) continue
    const { mode } = before
    if (before.type === 'directory') steps.push({ op: 'rmdir', path, mode, owner: toOwner(before) })
    else steps.push({ op: 'take', path, index })
  }
  // The entries of a directory are removed before it.
  return steps.reverse()
}

function createReplacements(changes: readonly TreeChange[], names: FirstNames): ApplyStep[] {
  return changes.flatMap(({ path, before, after }, index): ApplyStep[] => {
    if (before === undefined || after === undefined || before.type !== after.type) return []
    if (after.type === 'directory') return []
    if (names.has(path) || !isModeChangeOnly(before, after)) return [{ op: 'replace', path, index }]
    return [{ op: 'chmod', path, type: 'file', mode: after.mode, old: before.mode }]
  })
}

/** True if only the permissions differ. Such a file stays in place, with its other names and attributes. */
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
  // An unwritable directory gets its permissions after its entries.
  return [...steps, ...modes.reverse()]
}

function toOwner({ uid, gid }: LinkEntry): FileOwner {
  return { uid, gid }
}
