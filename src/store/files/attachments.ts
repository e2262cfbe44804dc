import { groupOf, kinds } from '../tree/key.ts'
import { type Files, VAULT_INODE } from './files.ts'

const NOTHING = new Uint8Array(0)
const MERGED = 'merged/'

/** The tree another vault had when it was last merged into this one. */
export interface MergePoint {
  readonly root: number
  /** The row of that vault its tree includes; absent if it was merged by an earlier version. */
  readonly seq?: number
  /** Milliseconds since the epoch. */
  readonly time: number
}

export function setTags(
  files: Files,
  inode: number,
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): null {
  for (const tag of add) {
    files.tree.set(groupOf(inode, kinds.tag), tag, NOTHING)
    files.tree.set(groupOf(VAULT_INODE, kinds.tag), `${tag}\0${inode}`, NOTHING)
  }
  for (const tag of remove) {
    files.tree.delete(groupOf(inode, kinds.tag), tag)
    files.tree.delete(groupOf(VAULT_INODE, kinds.tag), `${tag}\0${inode}`)
  }
  return null
}

export function tagsOf(files: Files, inode: number): string[] {
  return Array.from(files.tree.inGroup(groupOf(inode, kinds.tag)), ({ sub }) => String(sub))
}

/** Every tag with the files that have it, in the order of tags; from one tag on. */
export function* taggedFiles(files: Files, from = ''): Generator<{ tag: string; inode: number }> {
  for (const { sub } of files.tree.inGroup(groupOf(VAULT_INODE, kinds.tag), from)) {
    const [tag = '', inode] = String(sub).split('\0')
    yield { tag, inode: Number(inode) }
  }
}

export function setMeta(files: Files, inode: number, values: Readonly<Record<string, string | null>>): null {
  return setAll(files, groupOf(inode, kinds.meta), values, 'utf8')
}

export function metaOf(files: Files, inode: number): Record<string, string> {
  const entries = Array.from(files.tree.inGroup(groupOf(inode, kinds.meta)))
  return Object.fromEntries(entries.map(({ sub, value }) => [sub, textOf(value)]))
}

/** Sets an extended attribute, given in base64; null takes it away. */
export function setXattr(files: Files, inode: number, name: string, value: string | null): null {
  return setAll(files, groupOf(inode, kinds.xattr), { [name]: value }, 'base64')
}

export function xattr(files: Files, inode: number, name: string): Uint8Array | undefined {
  const value = files.tree.get(groupOf(inode, kinds.xattr), name)
  return value instanceof Uint8Array ? value : undefined
}

export function xattrsOf(files: Files, inode: number): string[] {
  return Array.from(files.tree.inGroup(groupOf(inode, kinds.xattr)), ({ sub }) => String(sub))
}

export function setMergePoint(files: Files, vault: number, point: MergePoint): void {
  const value = Buffer.from(JSON.stringify(point))
  files.tree.set(groupOf(VAULT_INODE, kinds.meta), `${MERGED}${vault}`, value)
}

export function mergePoint(files: Files, vault: number): MergePoint | undefined {
  const value = files.tree.get(groupOf(VAULT_INODE, kinds.meta), `${MERGED}${vault}`)
  return value === undefined ? undefined : JSON.parse(textOf(value))
}

/** Every merge point of a vault: trees that must stay, each with the number of the vault that was merged. */
export function mergePoints(files: Files): (MergePoint & { readonly vault: number })[] {
  const entries = Array.from(files.tree.inGroup(groupOf(VAULT_INODE, kinds.meta), MERGED))
  return entries.flatMap(({ sub, value }) => {
    const key = String(sub)
    return key.startsWith(MERGED)
      ? [{ ...JSON.parse(textOf(value)), vault: Number(key.slice(MERGED.length)) }]
      : []
  })
}

/** Removes the merge points of all vaults but these. */
export function keepMergePoints(files: Files, vaults: ReadonlySet<number>): void {
  for (const { vault } of mergePoints(files)) {
    if (!vaults.has(vault)) files.tree.delete(groupOf(VAULT_INODE, kinds.meta), `${MERGED}${vault}`)
  }
}

function setAll(
  files: Files,
  group: number,
  values: Readonly<Record<string, string | null>>,
  encoding: BufferEncoding,
): null {
  for (const [key, value] of Object.entries(values)) {
    if (value === null) files.tree.delete(group, key)
    else files.tree.set(group, key, Buffer.from(value, encoding))
  }
  return null
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : ''
}
