import { child } from '../../vfs/index.ts'
import { diffTrees, type EntryChange } from '../tree/diff-trees.ts'
import { groupInode, kindOf, kinds } from '../tree/key.ts'
import type { NodeRef } from '../tree/node.ts'
import type { Inode, TreeValue } from '../tree/records.ts'
import { type NodeSource, Tree } from '../tree/tree.ts'
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

/** A name in a directory, by the directory's inode. */
export interface NameChange {
  readonly parent: number
  readonly name: string
}

/** Whether a file of one tree has the same bytes as a file of the other. */
type SameBytes = (old: Files, oldNumber: number, now: Files, newNumber: number) => boolean

/** Two trees to compare, and how to tell whether values and content are the same. */
export interface Comparison {
  readonly source: NodeSource<TreeValue>
  readonly before: NodeRef<TreeValue>
  readonly after: NodeRef<TreeValue>
  readonly isSameValue: (before: TreeValue, after: TreeValue) => boolean
  readonly sameBytes: SameBytes
  /** Where the trees parted: inodes from this number on are different files in both, though the numbers are the same. */
  readonly apartFrom?: number
  /** What `touchedInodes` found, if it was asked before. */
  readonly touched?: ReadonlySet<number>
}

/**
 * What changed between two trees, sorted by path, in time proportional to the changes.
 * A directory is named only when it was renamed, or is empty on one side and missing on the other.
 * What was renamed and changed is named twice.
 */
export function diffFiles(comparison: Comparison): FileChange[] {
  const { source, before, after } = comparison
  const sides: Sides = {
    old: new Files(new Tree(source, before)),
    now: new Files(new Tree(source, after)),
    sameBytes: comparison.sameBytes,
    apartFrom: comparison.apartFrom ?? Number.POSITIVE_INFINITY,
  }
  const touched = new Set(comparison.touched ?? touchedInodes(comparison))
  for (const files of [sides.old, sides.now]) addContents(files, touched, sides.apartFrom)
  const changes = [...touched].flatMap((number) => compare(sides, number))
  return withoutReplacements(sides, changes).sort(byPath)
}

interface Sides {
  readonly old: Files
  readonly now: Files
  readonly sameBytes: SameBytes
  readonly apartFrom: number
}

/** What lies in a directory that is another one on each side has another place, though nothing of itself differs. */
function addContents(files: Files, touched: Set<number>, apartFrom: number): void {
  const pending = [...touched].filter((number) => number >= apartFrom)
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (files.inodeIfPresent(at)?.type !== 'directory') continue
    for (const { inode } of files.entries(at)) {
      touched.add(inode)
      if (inode >= apartFrom) pending.push(inode)
    }
  }
}

/** Every inode of which anything differs: attributes, content, a name, a tag. */
export function touchedInodes({ source, before, after, isSameValue }: Comparison): Set<number> {
  const touched = new Set(diffTrees(source, before, after, isSameValue).flatMap(inodesOf))
  touched.delete(VAULT_INODE)
  return touched
}

/** Every name that leads elsewhere, or nowhere. */
export function touchedNames({ source, before, after, isSameValue }: Comparison): NameChange[] {
  return diffTrees(source, before, after, isSameValue).flatMap(({ group, sub }) =>
    kindOf(group) === kinds.entry ? [{ parent: groupInode(group), name: String(sub) }] : [],
  )
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
function withoutReplacements(sides: Sides, changes: FileChange[]): FileChange[] {
  const { old, now, sameBytes, apartFrom } = sides
  return changes.flatMap((change): FileChange[] => {
    if (change.kind === 'deleted') return isReplaced(now, change) ? [] : [change]
    const { kind, path, after } = change
    const [oldNumber, newNumber] = [old.find(path), now.find(path)]
    if (kind !== 'added' || oldNumber === undefined || newNumber === undefined || after === undefined)
      return [change]
    // What was there before may have been moved away; then this one is new. A file with several names is never told as
    // moved: one of its names is another file now.
    const before = old.inode(oldNumber)
    const moved = oldNumber < apartFrom ? now.inodeIfPresent(oldNumber) : undefined
    const isElsewhere = moved !== undefined && before.links < 2 && moved.links < 2
    if (isElsewhere || before.type !== after.type) return [change]
    const isSame = before.type === 'directory' || sameBytes(old, oldNumber, now, newNumber)
    return isSame && before.mode === after.mode ? [] : [{ kind: 'modified', path, before, after }]
  })
}

/** Whether what was deleted is there again as the same kind of thing. */
function isReplaced(now: Files, { path, before }: FileChange): boolean {
  const number = now.find(path)
  return number !== undefined && now.inode(number).type === before?.type
}

function compare({ old, now, sameBytes, apartFrom }: Sides, number: number): FileChange[] {
  const [before, after] = [named(old, number), named(now, number)]
  if (before === undefined || after === undefined || number >= apartFrom)
    return [...gone(old, number, before), ...come(now, number, after)]
  const isSame =
    before.type === 'directory' || (before.mode === after.mode && sameBytes(old, number, now, number))
  if (before.links > 1 || after.links > 1) return compareNames(old, now, number, before, after, isSame)
  const path = now.pathOf(number)
  const isSameParent =
    before.parent < apartFrom && after.parent < apartFrom
      ? before.parent === after.parent
      : old.pathOf(before.parent) === now.pathOf(after.parent)
  const moved: FileChange = { kind: 'renamed', path, from: old.pathOf(number), before, after }
  return [
    ...(isSameParent && before.name === after.name ? [] : [moved]),
    ...(isSame ? [] : [{ kind: 'modified', path, before, after } as const]),
  ]
}

function gone(files: Files, number: number, before: Inode | undefined): FileChange[] {
  if (before === undefined) return []
  return pathsTold(files, number, before).map((path) => ({ kind: 'deleted', path, before }))
}

function come(files: Files, number: number, after: Inode | undefined): FileChange[] {
  if (after === undefined) return []
  return pathsTold(files, number, after).map((path) => ({ kind: 'added', path, after }))
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
