import type { FileOwner } from '../../machine/index.ts'
import type { ApplyStep } from './apply-step.ts'
import { findClosedDirectories, OWNER_CHANGE_BITS } from './closed-directories.ts'
import type { TreeChange } from './compare-trees.ts'
import { PRIVATE_DIRECTORY_MODE } from './directory-steps.ts'
import type { HostTree } from './host-tree.ts'
import { isSameEntry, type LinkEntry } from './link-entry.ts'
import type { FirstNames } from './new-files.ts'
import { getParent } from './tree.ts'

type ChmodStep = Extract<ApplyStep, { op: 'chmod' }>

/**
 * Plans the steps that write changes. A directory that its owner may not change is opened first, and has its final mode
 * after the last change of its entries.
 */
export function planSteps(tree: HostTree, changes: readonly TreeChange[], names: FirstNames): ApplyStep[] {
  const modes = createDirectoryModes(changes)
  const opening = modes.filter(({ mode }) => !isClosed(mode))
  const edits = [
    ...createRemovals(changes),
    ...createReplacements(changes, names),
    ...createAdditions(changes),
  ]
  const opened = new Set(opening.map(({ path }) => path))
  const closed = findClosedDirectories(tree, listEditedDirectories(edits, opened))
  return [
    ...opening,
    ...[...closed].map(([path, mode]) => createTemporaryMode(path, mode, mode | OWNER_CHANGE_BITS)),
    ...edits.map((step) => keepOpen(step, closed)),
    ...createClosings(modes, edits, closed),
  ]
}

/** Lists the directories whose entries change, without those that are open by then. */
function listEditedDirectories(edits: readonly ApplyStep[], opened: ReadonlySet<string>): string[] {
  const edited = edits.filter(({ op }) => op !== 'chmod').map(({ path }) => getParent(path))
  return [...new Set(edited)].filter((path) => !opened.has(path))
}

function createTemporaryMode(path: string, old: number, mode: number): ChmodStep {
  return { op: 'chmod', path, type: 'directory', mode, old, isTemporary: true }
}

/** A removed directory that is created again must admit its entries. */
function keepOpen(step: ApplyStep, closed: ReadonlyMap<string, number>): ApplyStep {
  if (step.op !== 'rmdir' || !closed.has(step.path)) return step
  return { ...step, mode: step.mode | OWNER_CHANGE_BITS }
}

/** Creates the steps that set the final modes of directories, each before those above it. */
function createClosings(
  modes: readonly ChmodStep[],
  edits: readonly ApplyStep[],
  closed: ReadonlyMap<string, number>,
): ChmodStep[] {
  const removed = new Set(edits.filter(({ op }) => op === 'rmdir').map(({ path }) => path))
  const closing = new Map(modes.filter(({ mode }) => isClosed(mode)).map((step) => [step.path, step]))
  for (const [path, old] of closed) {
    if (removed.has(path)) continue
    const mode = closing.get(path)?.mode ?? old
    closing.set(path, createTemporaryMode(path, old | OWNER_CHANGE_BITS, mode))
  }
  return [...closing.values()].sort((one, other) => (one.path < other.path ? 1 : -1))
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
