import { entryKinds, toGroup } from '../tree/tree-key.ts'
import { encodeOwnBytes } from '../tree/tree-values.ts'
import { VAULT_INODE, type VaultFiles } from './vault-files.ts'

const EMPTY_VALUE = new Uint8Array(0)
const MERGE_POINT_PREFIX = 'merged/'

/** The tree of another vault at its last merge into this one. */
export interface MergePoint {
  readonly root: number
  /** Last row of that vault's tree; absent if an earlier version merged it. */
  readonly seq?: number
  /** Milliseconds since the epoch. */
  readonly time: number
}

export function setTags(
  files: VaultFiles,
  inode: number,
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): null {
  for (const tag of add) {
    files.tree.set(toGroup(inode, entryKinds.tag), tag, EMPTY_VALUE)
    files.tree.set(toGroup(VAULT_INODE, entryKinds.tag), `${tag}\0${inode}`, EMPTY_VALUE)
  }
  for (const tag of remove) {
    files.tree.delete(toGroup(inode, entryKinds.tag), tag)
    files.tree.delete(toGroup(VAULT_INODE, entryKinds.tag), `${tag}\0${inode}`)
  }
  return null
}

export function listTags(files: VaultFiles, inode: number): string[] {
  return Array.from(files.tree.iterateGroup(toGroup(inode, entryKinds.tag)), ({ sub }) => String(sub))
}

/** Yields every tag and its files, in the order of tags, from one tag on. */
export function* listTaggedFiles(files: VaultFiles, from = ''): Generator<{ tag: string; inode: number }> {
  for (const { sub } of files.tree.iterateGroup(toGroup(VAULT_INODE, entryKinds.tag), from)) {
    const [tag = '', inode] = String(sub).split('\0')
    yield { tag, inode: Number(inode) }
  }
}

export function setMeta(
  files: VaultFiles,
  inode: number,
  values: Readonly<Record<string, string | null>>,
): null {
  return setValues(files, toGroup(inode, entryKinds.meta), values, 'utf8')
}

export function readMetadata(files: VaultFiles, inode: number): Record<string, string> {
  const entries = Array.from(files.tree.iterateGroup(toGroup(inode, entryKinds.meta)))
  return Object.fromEntries(entries.map(({ sub, value }) => [sub, toText(value)]))
}

/** Sets an extended attribute from base64; null removes it. */
export function setXattr(files: VaultFiles, inode: number, name: string, value: string | null): null {
  return setValues(files, toGroup(inode, entryKinds.xattr), { [name]: value }, 'base64')
}

export function findXattr(files: VaultFiles, inode: number, name: string): Uint8Array | undefined {
  const value = files.tree.get(toGroup(inode, entryKinds.xattr), name)
  return value instanceof Uint8Array ? value : undefined
}

export function listXattrs(files: VaultFiles, inode: number): string[] {
  return Array.from(files.tree.iterateGroup(toGroup(inode, entryKinds.xattr)), ({ sub }) => String(sub))
}

export function setMergePoint(files: VaultFiles, vault: number, point: MergePoint): void {
  const value = encodeOwnBytes(JSON.stringify(point))
  files.tree.set(toGroup(VAULT_INODE, entryKinds.meta), `${MERGE_POINT_PREFIX}${vault}`, value)
}

export function findMergePoint(files: VaultFiles, vault: number): MergePoint | undefined {
  const value = files.tree.get(toGroup(VAULT_INODE, entryKinds.meta), `${MERGE_POINT_PREFIX}${vault}`)
  return value === undefined ? undefined : JSON.parse(toText(value))
}

/** Lists the merge points of a vault, each with the number of the merged vault; their trees must stay. */
export function listMergePoints(files: VaultFiles): (MergePoint & { readonly vault: number })[] {
  const entries = Array.from(
    files.tree.iterateGroup(toGroup(VAULT_INODE, entryKinds.meta), MERGE_POINT_PREFIX),
  )
  return entries.flatMap(({ sub, value }) => {
    const key = String(sub)
    return key.startsWith(MERGE_POINT_PREFIX)
      ? [{ ...JSON.parse(toText(value)), vault: Number(key.slice(MERGE_POINT_PREFIX.length)) }]
      : []
  })
}

/** Removes the merge points of all other vaults. */
export function retainMergePoints(files: VaultFiles, vaults: ReadonlySet<number>): void {
  for (const { vault } of listMergePoints(files)) {
    if (!vaults.has(vault))
      files.tree.delete(toGroup(VAULT_INODE, entryKinds.meta), `${MERGE_POINT_PREFIX}${vault}`)
  }
}

function setValues(
  files: VaultFiles,
  group: number,
  values: Readonly<Record<string, string | null>>,
  encoding: BufferEncoding,
): null {
  for (const [key, value] of Object.entries(values)) {
    if (value === null) files.tree.delete(group, key)
    else files.tree.set(group, key, encodeOwnBytes(value, encoding))
  }
  return null
}

function toText(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : ''
}
