import { findXattr, listTags, listXattrs, readMetadata } from '../../files/attachments.ts'
import type { VaultFiles } from '../../files/vault-files.ts'
import { entryKinds, toGroup, toGroupRange } from '../../tree/tree-key.ts'
import { type Inode, isSameTime, type Timestamp } from '../../tree/tree-values.ts'
import type { MergeDraft } from './merge-draft.ts'

/** A file and its labels on each side; without a base, both sides created it. */
export interface LabelSides {
  readonly base: readonly [VaultFiles, number] | undefined
  readonly theirs: readonly [VaultFiles, number]
  /** True to prefer theirs where both changed the same attribute; otherwise ours stays, without a conflict. */
  readonly prefersTheirs: boolean
}

/** Merges their changes of tags, metadata, extended attributes, mode, owner and time, each separately. */
export function mergeLabels(draft: MergeDraft, number: number, sides: LabelSides): void {
  mergeAttributes(draft, number, sides)
  if (!hasLabels(sides.theirs) && !(sides.base && hasLabels(sides.base))) return
  mergeTags(draft, number, sides)
  mergeMeta(draft, number, sides)
  mergeXattrs(draft, number, sides)
}

/** Reports whether an inode has labels: extended attributes, tags and metadata sort last among its entries. */
export function hasLabels([files, number]: readonly [VaultFiles, number]): boolean {
  const [, end] = toGroupRange(number)
  return files.tree.iterateGroups(toGroup(number, entryKinds.xattr), end).next().done !== true
}

function mergeAttributes(
  draft: MergeDraft,
  number: number,
  { base, theirs, prefersTheirs }: LabelSides,
): void {
  const ours = draft.files.getInode(number)
  const [old, current] = [base?.[0].getInode(base[1]), theirs[0].getInode(theirs[1])]
  const values: { mode?: number; uid?: number; gid?: number; mtime?: Timestamp } = mergeTime(
    old,
    ours,
    current,
  )
  for (const key of ['mode', 'uid', 'gid'] as const) {
    const value = mergeValue(old?.[key], ours[key], current[key], prefersTheirs)
    if (value !== ours[key]) values[key] = value
  }
  if (Object.keys(values).length === 0) return
  draft.apply({ op: 'attributes', path: draft.files.getPath(number), inode: number, ...values })
}

/**
 * Merges the mtime of files whose time alone was set; content carries its own. A directory's time follows its
 * entries.
 */
function mergeTime(old: Inode | undefined, ours: Inode, theirs: Inode): { mtime?: Timestamp } {
  if (theirs.type !== 'file' || old === undefined) return {}
  const isTheirsAlone = !isSameTime(old.mtime, theirs.mtime) && isSameTime(old.mtime, ours.mtime)
  return isTheirsAlone ? { mtime: theirs.mtime } : {}
}

function mergeTags(draft: MergeDraft, number: number, { base, theirs }: LabelSides): void {
  const [old, current] = [new Set(base === undefined ? [] : listTags(...base)), new Set(listTags(...theirs))]
  const [added, removed] = [current.difference(old), old.difference(current)]
  if (added.size + removed.size === 0) return
  const ours = new Set(listTags(draft.files, number))
  const [add, remove] = [[...added.difference(ours)], [...removed.intersection(ours)]]
  if (add.length + remove.length === 0) return
  draft.apply({ op: 'tag', path: draft.files.getPath(number), add, remove })
}

function mergeMeta(draft: MergeDraft, number: number, sides: LabelSides): void {
  const values = mergeKeys(draft, number, sides, readMetadata)
  if (values.length === 0) return
  const path = draft.files.getPath(number)
  draft.apply({ op: 'meta', path, values: Object.fromEntries(values) })
}

function mergeXattrs(draft: MergeDraft, number: number, sides: LabelSides): void {
  for (const [name, value] of mergeKeys(draft, number, sides, readXattrs)) {
    const path = draft.files.getPath(number)
    draft.apply({ op: 'xattr', path, inode: number, name, value })
  }
}

function readXattrs(files: VaultFiles, number: number): Record<string, string> {
  const encodeXattr = (name: string) => Buffer.from(findXattr(files, number, name) ?? []).toString('base64')
  return Object.fromEntries(listXattrs(files, number).map((name) => [name, encodeXattr(name)]))
}

/** Returns the keys that get another value, or null for removal. */
function mergeKeys(
  draft: MergeDraft,
  number: number,
  { base, theirs, prefersTheirs }: LabelSides,
  read: (files: VaultFiles, number: number) => Record<string, string>,
): [key: string, value: string | null][] {
  const [old, current] = [
    new Map(base && Object.entries(read(...base))),
    new Map(Object.entries(read(...theirs))),
  ]
  const changed = [...new Set([...old.keys(), ...current.keys()])].filter(
    (key) => old.get(key) !== current.get(key),
  )
  // Most files have no changes here: then ours need not be read.
  if (changed.length === 0) return []
  const ours = new Map(Object.entries(read(draft.files, number)))
  return changed.flatMap((key) => {
    const value = mergeValue(old.get(key), ours.get(key), current.get(key), prefersTheirs)
    return value === ours.get(key) ? [] : [[key, value ?? null]]
  })
}

/** Returns theirs if only they changed it, or if both did and theirs is preferred; otherwise ours. */
function mergeValue<T>(old: T | undefined, ours: T, theirs: T, prefersTheirs: boolean): T {
  if (theirs === old) return ours
  return ours === old || prefersTheirs ? theirs : ours
}
