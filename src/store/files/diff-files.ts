import { child } from '../../vfs/index.ts'
import { diffTrees, type EntryChange } from '../tree/diff-trees.ts'
import { type NodeSource, Tree } from '../tree/tree.ts'
import { entryKinds, getGroupInode, getGroupKind } from '../tree/tree-key.ts'
import type { NodeRef } from '../tree/tree-node.ts'
import type { Inode, TreeValue } from '../tree/tree-values.ts'
import { ComparedFiles } from './compared-files.ts'
import { listDentries } from './directory-entries.ts'
import { VAULT_INODE, type VaultFiles } from './vault-files.ts'

/** One difference between two trees of files. A renamed directory is one change, whatever it contains. */
export interface FileChange {
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed'
  readonly path: string
  /** Old path of a rename. */
  readonly from?: string
  readonly before?: Inode
  readonly after?: Inode
}

/** A changed name in a directory, by the directory's inode. */
export interface NameChange {
  readonly parent: number
  readonly name: string
}

/** Reports whether files of two trees have the same bytes. */
type SameBytes = (old: VaultFiles, oldNumber: number, current: VaultFiles, newNumber: number) => boolean

/** Two trees to compare, and the equality of values and content. */
export interface TreeComparison {
  readonly source: NodeSource<TreeValue>
  readonly before: NodeRef<TreeValue>
  readonly after: NodeRef<TreeValue>
  readonly isSameValue: (before: TreeValue, after: TreeValue) => boolean
  readonly sameBytes: SameBytes
  /**
   * First inode number that both trees gave out on their own, after one was forked from the other or both from a third: from
   * here on, equal numbers are different files.
   */
  readonly apartFrom?: number
  /** Result of `listChangedInodes`, if already known. */
  readonly touched?: ReadonlySet<number>
}

/**
 * Lists the changes between two trees by path, in time proportional to the changes. A directory is
 * among them only if it was renamed, or if it is empty on one side and missing on the other. A file both renamed and
 * changed has two entries.
 */
export function diffFiles(comparison: TreeComparison): FileChange[] {
  const { source, before, after } = comparison
  const sides: ComparedSides = {
    old: new ComparedFiles(new Tree(source, before)),
    current: new ComparedFiles(new Tree(source, after)),
    sameBytes: comparison.sameBytes,
    apartFrom: comparison.apartFrom ?? Number.POSITIVE_INFINITY,
  }
  const touched = new Set(comparison.touched ?? listChangedInodes(comparison))
  for (const files of [sides.old, sides.current]) addContents(files, touched, sides.apartFrom)
  const changes = [...touched].flatMap((number) => compareInode(sides, number))
  return dropReplacements(sides, changes).sort(comparePaths)
}

interface ComparedSides {
  readonly old: VaultFiles
  readonly current: VaultFiles
  readonly sameBytes: SameBytes
  readonly apartFrom: number
}

/** Adds what is in directories with numbers from `apartFrom` on: with such a directory, its entries have other paths, too. */
function addContents(files: VaultFiles, touched: Set<number>, apartFrom: number): void {
  const pending = [...touched].filter((number) => number >= apartFrom)
  for (let number = pending.pop(); number !== undefined; number = pending.pop()) {
    if (files.findInode(number)?.type !== 'directory') continue
    for (const { inode } of files.listEntries(number)) {
      touched.add(inode)
      if (inode >= apartFrom) pending.push(inode)
    }
  }
}

/** Lists every inode with any difference: attributes, content, a name, a tag. */
export function listChangedInodes({ source, before, after, isSameValue }: TreeComparison): Set<number> {
  const touched = new Set(diffTrees(source, before, after, isSameValue).flatMap(listEntryInodes))
  touched.delete(VAULT_INODE)
  return touched
}

/** Lists every name that was added, removed, or refers to another inode. */
export function listChangedNames({ source, before, after, isSameValue }: TreeComparison): NameChange[] {
  return diffTrees(source, before, after, isSameValue).flatMap(({ group, sub }) =>
    getGroupKind(group) === entryKinds.entry ? [{ parent: getGroupInode(group), name: String(sub) }] : [],
  )
}

/** Lists the inodes of a tree entry: for a name, its target. */
function listEntryInodes({ group, before, after }: EntryChange<TreeValue>): number[] {
  if (getGroupKind(group) !== entryKinds.entry) return [getGroupInode(group)]
  return [before, after].flatMap((value) => (value !== undefined && 'inode' in value ? [value.inode] : []))
}

/** Sorts a rename before other changes of the same path. */
function comparePaths(a: FileChange, b: FileChange): number {
  if (a.path < b.path) return -1
  if (a.path > b.path) return 1
  return a.kind === 'renamed' ? -1 : 1
}

/**
 * Merges a deletion and an addition at one path: `modified` if content or mode differ, no change if both are equal. With
 * another type, both stay.
 */
function dropReplacements(sides: ComparedSides, changes: FileChange[]): FileChange[] {
  const { old, current, sameBytes, apartFrom } = sides
  return changes.flatMap((change): FileChange[] => {
    if (change.kind === 'deleted') return isReplaced(current, change) ? [] : [change]
    const { kind, path, after } = change
    const oldNumber = kind === 'added' ? old.findByPath(path) : undefined
    if (oldNumber === undefined || after === undefined) return [change]
    const newNumber = current.findByPath(path)
    if (newNumber === undefined) return [change]
    const before = old.getInode(oldNumber)
    const survivor = oldNumber < apartFrom ? current.findInode(oldNumber) : undefined
    // Then the old file is reported as renamed, and this one is new. Changes of hard links are no renames.
    const isRenamed = survivor !== undefined && before.links < 2 && survivor.links < 2
    if (isRenamed || before.type !== after.type) return [change]
    const isSame = before.type === 'directory' || sameBytes(old, oldNumber, current, newNumber)
    return isSame && before.mode === after.mode ? [] : [{ kind: 'modified', path, before, after }]
  })
}

/** Reports whether a deleted path exists again with the same type. */
function isReplaced(current: VaultFiles, { path, before }: FileChange): boolean {
  const number = current.findByPath(path)
  return number !== undefined && current.getInode(number).type === before?.type
}

/** Lists the changes of one inode: none, a rename, other content or mode, additions or deletions of its names. */
function compareInode({ old, current, sameBytes, apartFrom }: ComparedSides, number: number): FileChange[] {
  const [before, after] = [findNamedInode(old, number), findNamedInode(current, number)]
  if (before === undefined || after === undefined || number >= apartFrom)
    return [...listDeletions(old, number, before), ...listAdditions(current, number, after)]
  const isSame =
    before.type === 'directory' || (before.mode === after.mode && sameBytes(old, number, current, number))
  if (before.links > 1 || after.links > 1) return compareNames(old, current, number, before, after, isSame)
  const path = current.getPath(number)
  // Numbers of new directories say nothing: the trees may have given one number to two of them.
  const isSameParent =
    before.parent < apartFrom && after.parent < apartFrom
      ? before.parent === after.parent
      : old.getPath(before.parent) === current.getPath(after.parent)
  const changes: FileChange[] = []
  if (!isSameParent || before.name !== after.name)
    changes.push({ kind: 'renamed', path, from: old.getPath(number), before, after })
  if (!isSame) changes.push({ kind: 'modified', path, before, after })
  return changes
}

function listDeletions(files: VaultFiles, number: number, before: Inode | undefined): FileChange[] {
  if (before === undefined) return []
  return listReportedPaths(files, number, before).map((path) => ({ kind: 'deleted', path, before }))
}

function listAdditions(files: VaultFiles, number: number, after: Inode | undefined): FileChange[] {
  if (after === undefined) return []
  return listReportedPaths(files, number, after).map((path) => ({ kind: 'added', path, after }))
}

/** Compares a hard-linked file: each name was added, removed, or has other content. */
function compareNames(
  old: VaultFiles,
  current: VaultFiles,
  number: number,
  before: Inode,
  after: Inode,
  isSame: boolean,
): FileChange[] {
  const [oldPaths, newPaths] = [listPaths(old, number, before), listPaths(current, number, after)]
  const stayed = newPaths.filter((path) => oldPaths.includes(path))
  return [
    ...(isSame ? [] : stayed.map((path) => ({ kind: 'modified', path, before, after }) as const)),
    ...newPaths.flatMap((path) => (stayed.includes(path) ? [] : [{ kind: 'added', path, after } as const])),
    ...oldPaths.flatMap((path) =>
      stayed.includes(path) ? [] : [{ kind: 'deleted', path, before } as const],
    ),
  ]
}

/** Returns an inode if it has a name; an unlinked open file has no path to report. */
function findNamedInode(files: VaultFiles, number: number): Inode | undefined {
  const inode = files.findInode(number)
  return inode?.links === 0 ? undefined : inode
}

/** Lists the paths of an inode; none for a directory with entries, which are reported in its place. */
function listReportedPaths(files: VaultFiles, number: number, inode: Inode): string[] {
  return inode.type === 'directory' && files.hasEntries(number) ? [] : listPaths(files, number, inode)
}

function listPaths(files: VaultFiles, number: number, inode: Inode): string[] {
  if (inode.links < 2) return [files.getPath(number)]
  return listDentries(files, number, inode).map(({ parent, name }) => child(files.getPath(parent), name))
}
