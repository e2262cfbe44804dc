import { metaOf, tagsOf, xattr, xattrsOf } from '../../files/attachments.ts'
import type { Files } from '../../files/files.ts'
import { groupOf, groupsOf, kinds } from '../../tree/key.ts'
import type { Inode, Time } from '../../tree/records.ts'
import type { Draft } from './draft.ts'

/** A file with everything that hangs on it, on each side; without a base, both sides made it. */
export interface LabelSides {
  readonly base: readonly [Files, number] | undefined
  readonly theirs: readonly [Files, number]
  /** Whether theirs is taken where both changed the same attribute. Else ours stays: it is no conflict. */
  readonly prefersTheirs: boolean
}

/** Brings tags, metadata, extended attributes, mode, owner and time to a file: each by itself, as far as they changed it. */
export function mergeLabels(draft: Draft, number: number, sides: LabelSides): void {
  mergeAttributes(draft, number, sides)
  if (!hasLabels(sides.theirs) && !(sides.base && hasLabels(sides.base))) return
  mergeTags(draft, number, sides)
  mergeMeta(draft, number, sides)
  mergeXattrs(draft, number, sides)
}

/** Extended attributes, tags and metadata are the last of what an inode has. */
export function hasLabels([files, number]: readonly [Files, number]): boolean {
  const [, end] = groupsOf(number)
  return files.tree.inGroups(groupOf(number, kinds.xattr), end).next().done !== true
}

function mergeAttributes(draft: Draft, number: number, { base, theirs, prefersTheirs }: LabelSides): void {
  const ours = draft.files.inode(number)
  const [old, now] = [base?.[0].inode(base[1]), theirs[0].inode(theirs[1])]
  const values: { mode?: number; uid?: number; gid?: number; mtime?: Time } = changedTime(old, ours, now)
  for (const key of ['mode', 'uid', 'gid'] as const) {
    const value = merged(old?.[key], ours[key], now[key], prefersTheirs)
    if (value !== ours[key]) values[key] = value
  }
  if (Object.keys(values).length === 0) return
  draft.perform({ op: 'attributes', path: draft.files.pathOf(number), inode: number, ...values })
}

/** Content brings its time along; here it is for files whose time alone was set. A directory's changes by itself. */
function changedTime(old: Inode | undefined, ours: Inode, theirs: Inode): { mtime?: Time } {
  if (theirs.type !== 'file' || old === undefined) return {}
  const isTheirsAlone = !isSameTime(old.mtime, theirs.mtime) && isSameTime(old.mtime, ours.mtime)
  return isTheirsAlone ? { mtime: theirs.mtime } : {}
}

function isSameTime(one: Time, other: Time): boolean {
  return one.seconds === other.seconds && one.nanos === other.nanos
}

function mergeTags(draft: Draft, number: number, { base, theirs }: LabelSides): void {
  const [old, now] = [new Set(base === undefined ? [] : tagsOf(...base)), new Set(tagsOf(...theirs))]
  const [added, removed] = [now.difference(old), old.difference(now)]
  if (added.size + removed.size === 0) return
  const ours = new Set(tagsOf(draft.files, number))
  const [add, remove] = [[...added.difference(ours)], [...removed.intersection(ours)]]
  if (add.length + remove.length === 0) return
  draft.perform({ op: 'tag', path: draft.files.pathOf(number), add, remove })
}

function mergeMeta(draft: Draft, number: number, sides: LabelSides): void {
  const values = mergedKeys(draft, number, sides, metaOf)
  if (values.length === 0) return
  const path = draft.files.pathOf(number)
  draft.perform({ op: 'meta', path, values: Object.fromEntries(values) })
}

function mergeXattrs(draft: Draft, number: number, sides: LabelSides): void {
  for (const [name, value] of mergedKeys(draft, number, sides, xattrValues)) {
    const path = draft.files.pathOf(number)
    draft.perform({ op: 'xattr', path, inode: number, name, value })
  }
}

function xattrValues(files: Files, number: number): Record<string, string> {
  const encoded = (name: string) => Buffer.from(xattr(files, number, name) ?? []).toString('base64')
  return Object.fromEntries(xattrsOf(files, number).map((name) => [name, encoded(name)]))
}

/** The keys that get another value, or null to go. */
function mergedKeys(
  draft: Draft,
  number: number,
  { base, theirs, prefersTheirs }: LabelSides,
  read: (files: Files, number: number) => Record<string, string>,
): [key: string, value: string | null][] {
  const [old, now] = [
    new Map(base && Object.entries(read(...base))),
    new Map(Object.entries(read(...theirs))),
  ]
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((key) => old.get(key) !== now.get(key))
  // Most files have none that changed: then ours need not be looked for.
  if (changed.length === 0) return []
  const ours = new Map(Object.entries(read(draft.files, number)))
  return changed.flatMap((key) => {
    const value = merged(old.get(key), ours.get(key), now.get(key), prefersTheirs)
    return value === ours.get(key) ? [] : [[key, value ?? null]]
  })
}

/** Theirs if they alone changed it, else ours. */
function merged<T>(old: T | undefined, ours: T, theirs: T, prefersTheirs: boolean): T {
  if (theirs === old) return ours
  return ours === old || prefersTheirs ? theirs : ours
}
