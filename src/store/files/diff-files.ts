import { child } from '../../vfs/index.ts'
import { groupInode, kindOf, kinds } from '../tree/key.ts'
import type { NodeRef } from '../tree/node.ts'
import type { Inode, TreeValue } from '../tree/records.ts'
import { diffTrees, type EntryChange, type NodeSource, Tree } from '../tree/tree.ts'
import { Files, VAULT_INODE } from './files.ts'
import { namesOf } from './naming.ts'

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

/** Two trees to compare, and how to tell whether values and content are the same. */
export interface Comparison {
  readonly source: NodeSource<TreeValue>
  readonly before: NodeRef<TreeValue>
  readonly after: NodeRef<TreeValue>
  readonly isSameValue: (before: TreeValue, after: TreeValue) => boolean
  readonly sameBytes: SameBytes
}

/**
 * What changed between two trees, sorted by path, in time proportional to the changes.
 * A directory is named only when it was renamed, or is empty on one side and missing on the other.
 * What was renamed and changed is named twice.
 */
export function diffFiles(comparison: Comparison): FileChange[] {
  const { source, before, after, sameBytes } = comparison
  const [old, now] = [new Files(new Tree(source, before)), new Files(new Tree(source, after))]
  const changes = [...touchedInodes(comparison)].flatMap((number) => compare(old, now, number, sameBytes))
  return withoutReplacements(old, now, changes, sameBytes).sort(byPath)
}

/** Every inode of which anything differs: attributes, content, a name, a tag. */
export function touchedInodes({ source, before, after, isSameValue }: Comparison): Set<number> {
  const touched = new Set(diffTrees(source, before, after, isSameValue).flatMap(inodesOf))
  touched.delete(VAULT_INODE)
  return touched
}

/** The inodes an entry of the tree is about: a name is about what it names. */
function inodesOf({ group, before, after }: EntryChange<TreeValue>): number[] {
  if (kindOf(group) !== kinds.entry) return [groupInode(group)]
  return [before, after].flatMap((value) => (value !== undefined && 'inode' in value ? [value.inode] : []))
}

/** A rename comes before what was changed besides. */
function byPath(a: FileChange, b: FileChange): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1
  return a.kind === 'renamed' ? -1 : 1
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

function compare(old: Files, now: Files, number: number, sameBytes: SameBytes): FileChange[] {
  const [before, after] = [named(old, number), named(now, number)]
  if (before === undefined || after === undefined) {
    if (after !== undefined)
      return pathsTold(now, number, after).map((path) => ({ kind: 'added', path, after }))
    if (before === undefined) return []
    return pathsTold(old, number, before).map((path) => ({ kind: 'deleted', path, before }))
  }
  const isSame =
    before.type === 'directory' || (before.mode === after.mode && sameBytes(old, number, now, number))
  if (before.links > 1 || after.links > 1) return compareNames(old, now, number, before, after, isSame)
  const path = now.pathOf(number)
  const isMoved = before.parent !== after.parent || before.name !== after.name
  const moved: FileChange = { kind: 'renamed', path, from: old.pathOf(number), before, after }
  return [
    ...(isMoved ? [moved] : []),
    ...(isSame ? [] : [{ kind: 'modified', path, before, after } as const]),
  ]
}

/** A file with several names: each name has come, gone, or stands for other content. */
function compareNames(
  old: Files,
  now: Files,
  number: number,
  before: Inode,
  after: Inode,
  isSame: boolean,
): FileChange[] {
  const [oldPaths, newPaths] = [pathsOf(old, number, before), pathsOf(now, number, after)]
  const stayed = newPaths.filter((path) => oldPaths.includes(path))
  return [
    ...(isSame ? [] : stayed.map((path) => ({ kind: 'modified', path, before, after }) as const)),
    ...newPaths.flatMap((path) => (stayed.includes(path) ? [] : [{ kind: 'added', path, after } as const])),
    ...oldPaths.flatMap((path) =>
      stayed.includes(path) ? [] : [{ kind: 'deleted', path, before } as const],
    ),
  ]
}

/** An inode that has a name; one that is only open is nowhere to be told of. */
function named(files: Files, number: number): Inode | undefined {
  const inode = files.inodeIfPresent(number)
  return inode?.links === 0 ? undefined : inode
}

function pathsTold(files: Files, number: number, inode: Inode): string[] {
  return inode.type === 'directory' && files.hasEntries(number) ? [] : pathsOf(files, number, inode)
}

function pathsOf(files: Files, number: number, inode: Inode): string[] {
  if (inode.links < 2) return [files.pathOf(number)]
  return namesOf(files, number, inode).map(({ parent, name }) => child(files.pathOf(parent), name))
}
