import { decodeDelta, isDeltaBlob } from '../segments/delta-row.ts'
import type { StoreHome } from '../store-home.ts'
import { isBranch } from '../tree/tree-node.ts'
import type { BlobRef, TreeValue } from '../tree/tree-values.ts'
import { listLandmarks } from '../vault/landmarks.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import { readRoots } from './gc-roots.ts'
import { ReachabilityWalk } from './reachability-walk.ts'

/** Usage of a vault. */
export interface VaultUsage {
  readonly files: number
  /** Sum of the sizes of its files. */
  readonly bytes: number
  /** Bytes that only this vault uses: deleting it frees them. */
  readonly privateBytes: number
  /** Bytes shared with another vault or with one of its checkpoints. */
  readonly sharedBytes: number
}

/** Measures a vault. Private is what nothing else in the home leads to. */
export async function getVaultUsage(home: StoreHome, log: VaultLog): Promise<VaultUsage> {
  await home.flushAllPages()
  return home.session.withHolds((hold) => measureWithHolds(home, log, hold))
}

async function measureWithHolds(
  home: StoreHome,
  log: VaultLog,
  hold: (root: number) => number,
): Promise<VaultUsage> {
  const { id, root, lineage } = log.head
  hold(root)
  const { pages } = await readRoots(home)
  for (const page of pages) hold(page)
  const landmarks = await home.reader.run(() => listLandmarks(home.reader, id))
  // The vault's record names its root once, this measurement holds it once, and the lineage names each ancestor's
  // root once. A deletion takes the landmarks along. Every further mention is another vault or a checkpoint.
  const own = [root, root, ...lineage.map((ancestor) => ancestor.root), ...landmarks.map((each) => each.root)]
  const others = pages.filter((page) => !removeFirst(own, page))
  const elsewhere = await measureContent(home, others)
  const content = await measureContent(home, [root])
  const { files, bytes } = await home.reader.run(() => home.trees.getFilesAt(root).getCounters())
  const sizes = [...content]
  const sharedBytes = sumSizes(sizes.filter(([key]) => elsewhere.has(key)))
  return { files, bytes, sharedBytes, privateBytes: sumSizes(sizes) - sharedBytes }
}

/** Removes the first occurrence of an item; true if there was one. */
function removeFirst(list: number[], item: number): boolean {
  const index = list.indexOf(item)
  if (index !== -1) list.splice(index, 1)
  return index !== -1
}

/** Maps the content reachable from roots to sizes: each blob, and the inline files of each page. */
async function measureContent(home: StoreHome, roots: readonly number[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const reach = new ReachabilityWalk(home, {
    page: async (id) => {
      const page = await home.engine.readPage(id)
      const node = page && home.codec.decode(id, page)
      if (node !== undefined && !isBranch(node)) sizes.set(`page ${id}`, countInlineBytes(node.values))
      return node
    },
    blob: async (ref) => {
      sizes.set(`blob ${ref.blob}`, isDeltaBlob(ref.blob) ? await addDelta(home, sizes, ref) : ref.size)
    },
  })
  await reach.follow({ heads: [], vaults: new Set<number>(), pages: roots, trees: [], journals: [] })
  return sizes
}

/** Adds the base of a delta, and returns the size of the delta's own row. */
async function addDelta({ engine }: StoreHome, sizes: Map<string, number>, ref: BlobRef): Promise<number> {
  const row = await engine.readBlob(ref.blob)
  if (row === undefined) return ref.size
  const { base } = decodeDelta(ref.blob, row)
  sizes.set(`blob ${base.blob}`, base.size)
  return row.length
}

function countInlineBytes(values: readonly TreeValue[]): number {
  const inline = values.flatMap((value) =>
    'content' in value && value.type === 'file' && value.content instanceof Uint8Array
      ? [value.content.length]
      : [],
  )
  return inline.reduce((total, size) => total + size, 0)
}

function sumSizes(sizes: readonly (readonly [string, number])[]): number {
  return sizes.reduce((total, [, size]) => total + size, 0)
}
