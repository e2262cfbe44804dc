import { groupInode, kindOf, kinds } from '../tree/key.ts'
import type { NodeRef } from '../tree/node.ts'
import type { Inode, TreeValue } from '../tree/records.ts'
import { diffTrees, type EntryChange, type NodeSource, Tree } from '../tree/tree.ts'
import { Files } from './files.ts'

/** One difference between two trees of files. A renamed directory is one change, whatever it holds. */
export interface FileChange {
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed'
  readonly path: string
  readonly from?: string
  readonly before?: Inode
  readonly after?: Inode
}

/** Whether a file of one tree has the same bytes as a file of the other. */
export type SameBytes = (old: Files, oldNumber: number, now: Files, newNumber: number) => boolean

/**
 * What changed between two trees, sorted by path, in time proportional to the changes.
 * A directory is named only when it was renamed, or is empty on one side and missing on the other.
 */
export function diffFiles(
  source: NodeSource<TreeValue>,
  before: NodeRef<TreeValue>,
  after: NodeRef<TreeValue>,
  isSameValue: (before: TreeValue, after: TreeValue) => boolean,
  sameBytes: SameBytes,
): FileChange[] {
  const [old, now] = [new Files(new Tree(source, before)), new Files(new Tree(source, after))]
  const touched = new Set(diffTrees(source, before, after, isSameValue).flatMap(inodesOf))
  const changes = [...touched].flatMap((number) => compare(old, now, number, sameBytes))
  return withoutReplacements(old, now, changes, sameBytes).sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** A file removed and made again is another inode at the same path: content decides whether that is a change. */
function withoutReplacements(
  old: Files,
  now: Files,
  changes: FileChange[],
  sameBytes: SameBytes,
): FileChange[] {
  return changes.flatMap((change): FileChange[] => {
    if (change.kind === 'deleted') return isReplaced(now, change) ? [] : [change]
    const { kind, path, after } = change
    const [oldNumber, newNumber] = [old.find(path), now.find(path)]
    if (kind !== 'added' || oldNumber === undefined || newNumber === undefined || after === undefined)
      return [change]
    // What was there before may have been moved away; then this one is new.
    const before = old.inode(oldNumber)
    if (now.inodeIfPresent(oldNumber) !== undefined || before.type !== after.type) return [change]
    const isSame = before.type === 'directory' || sameBytes(old, oldNumber, now, newNumber)
    return isSame && before.mode === after.mode ? [] : [{ kind: 'modified', path, before, after }]
  })
}

/** Whether what was deleted is there again as the same kind of thing. */
function isReplaced(now: Files, { path, before }: FileChange): boolean {
  const number = now.find(path)
  return number !== undefined && now.inode(number).type === before?.type
}

/** The inodes an entry of the tree is about: a name is about what it names. */
function inodesOf({ group, before, after }: EntryChange<TreeValue>): number[] {
  const kind = kindOf(group)
  if (kind === kinds.inode || kind === kinds.chunk) return [groupInode(group)]
  if (kind !== kinds.entry) return []
  return [before, after].flatMap((value) => (value !== undefined && 'inode' in value ? [value.inode] : []))
}

function compare(old: Files, now: Files, number: number, sameBytes: SameBytes): FileChange[] {
  const [before, after] = [old.inodeIfPresent(number), now.inodeIfPresent(number)]
  if (before === undefined && after !== undefined) {
    return isTold(now, number, after) ? [{ kind: 'added', path: now.pathOf(number), after }] : []
  }
  if (before !== undefined && after === undefined) {
    return isTold(old, number, before) ? [{ kind: 'deleted', path: old.pathOf(number), before }] : []
  }
  if (before === undefined || after === undefined) return []
  if (before.parent !== after.parent || before.name !== after.name) {
    return [{ kind: 'renamed', path: now.pathOf(number), from: old.pathOf(number), before, after }]
  }
  const isSame =
    before.type === 'directory' || (before.mode === after.mode && sameBytes(old, number, now, number))
  return isSame ? [] : [{ kind: 'modified', path: now.pathOf(number), before, after }]
}

function isTold(files: Files, number: number, { type }: Inode): boolean {
  return type !== 'directory' || !files.hasEntries(number)
}
