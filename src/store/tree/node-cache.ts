import type { MaybePromise } from '../engine.ts'
import { MissingError } from '../missing-error.ts'
import type { PageCodec } from './page-codec.ts'
import type { NodeSource } from './tree.ts'
import { isBranch, type NodeRef, type TreeNode } from './tree-node.ts'

/** Thrown if a remote page is not cached: `loading` resolves when it is, and the work can be retried. */
export class PageFault extends Error {
  override readonly name = 'PageFault'
  readonly loading: Promise<void>

  constructor(loading: Promise<void>) {
    super('a page is being loaded')
    this.loading = loading
  }
}

/** Capacity in bytes of a scan's own cache; more where pages come with their siblings. */
const SCAN_CACHE_BYTES = 512 * 1024
const SCAN_AHEAD_CACHE_BYTES = 4 * 1024 * 1024
/** Number of siblings that are read with a page: all children of a branch. */
const MAX_SIBLINGS = 64

export interface NodeCacheOptions<V> {
  readonly codec: PageCodec<V>
  readonly readPage: (id: number) => MaybePromise<Uint8Array | undefined>
  /** True if pages read together cost one trip: then a missing one is read with its siblings. */
  readonly readsAhead?: boolean
  /** Capacity in page bytes; decoded nodes take a few times as much. */
  readonly capacity: number
}

interface CachedNode<V> {
  readonly node: TreeNode<V>
  readonly bytes: number
}

/** LRU cache of decoded nodes. */
export class NodeCache<V> implements NodeSource<V> {
  readonly #codec: PageCodec<V>
  readonly #readPage: (id: number) => MaybePromise<Uint8Array | undefined>
  readonly #readsAhead: boolean
  readonly #capacity: number
  /** Pages on their way. */
  readonly #loading = new Map<number, Promise<void>>()
  /** Nodes used since the last rotation, and those of the rotation before: two maps make an LRU without a list. */
  #recent = new Map<number, CachedNode<V>>()
  #older = new Map<number, CachedNode<V>>()
  #bytes = 0

  constructor({ codec, readPage, readsAhead = false, capacity }: NodeCacheOptions<V>) {
    this.#codec = codec
    this.#readPage = readPage
    this.#readsAhead = readsAhead
    this.#capacity = capacity
  }

  /** Returns a source for a full scan, with a small cache of its own: a scan does not evict the nodes of others. */
  createScanSource(): NodeSource<V> {
    const readsAhead = this.#readsAhead
    const capacity = readsAhead ? SCAN_AHEAD_CACHE_BYTES : SCAN_CACHE_BYTES
    const scanned = new NodeCache<V>({ codec: this.#codec, readPage: this.#readPage, readsAhead, capacity })
    return {
      load: (id, siblings) => this.#findCached(id) ?? scanned.load(id, siblings),
      listBlobs: (value) => this.listBlobs(value),
    }
  }

  listBlobs(value: V): readonly { readonly blob: number }[] {
    return this.#codec.listBlobs(value)
  }

  load(id: number, siblings: readonly NodeRef<V>[] = []): TreeNode<V> {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent.node
    const older = this.#older.get(id)
    if (older === undefined) return this.#loadPage(id, siblings)
    this.put(older.node, older.bytes)
    return older.node
  }

  /** Begins to read pages that will be needed, if the engine reads in batches. A failure shows when they are loaded. */
  readAhead(ids: readonly number[]): void {
    if (!this.#readsAhead) return
    for (const id of ids) {
      if (this.#findCached(id) !== undefined || this.#loading.has(id)) continue
      const page = this.#readPage(id)
      // What is on this machine already can be decoded when it is needed.
      if (page instanceof Promise) this.#load(id, page).catch(() => {})
    }
  }

  /** Begins to read the children of a cached branch: the first read of a tree needs some of them. */
  readAheadBelow(id: number): void {
    const node = this.#findCached(id)
    if (node !== undefined && isBranch(node))
      this.readAhead(node.children.filter((ref) => typeof ref === 'number'))
  }

  /** Caches a node with the size of its page. */
  put(node: TreeNode<V>, bytes: number): void {
    this.#recent.set(node.id, { node, bytes })
    this.#bytes += bytes
    if (this.#bytes < this.#capacity / 2) return
    this.#older = this.#recent
    this.#recent = new Map()
    this.#bytes = 0
  }

  /** Removes a node whose page may not be stored. */
  delete(id: number): void {
    this.#recent.delete(id)
    this.#older.delete(id)
  }

  #findCached(id: number): TreeNode<V> | undefined {
    return (this.#recent.get(id) ?? this.#older.get(id))?.node
  }

  /** Reads and caches a page. Throws a fault if it has to wait for it. */
  #loadPage(id: number, siblings: readonly NodeRef<V>[]): TreeNode<V> {
    const loading = this.#loading.get(id)
    if (loading !== undefined) throw new PageFault(loading)
    const page = this.#readPage(id)
    if (!(page instanceof Promise)) return this.#decodeAndCache(id, page)
    const loaded = this.#load(id, page)
    if (this.#readsAhead) this.readAhead(pickSiblings(id, siblings))
    throw new PageFault(loaded)
  }

  /** Caches a page once it arrives. */
  #load(id: number, page: Promise<Uint8Array | undefined>): Promise<void> {
    const decode = (bytes: Uint8Array | undefined) => {
      this.#decodeAndCache(id, bytes)
    }
    const loading = page.then(decode).finally(() => this.#loading.delete(id))
    this.#loading.set(id, loading)
    return loading
  }

  #decodeAndCache(id: number, page: Uint8Array | undefined): TreeNode<V> {
    const node = this.#decode(id, page)
    this.put(node, page?.length ?? 0)
    return node
  }

  #decode(id: number, page: Uint8Array | undefined): TreeNode<V> {
    if (page !== undefined) return this.#codec.decode(id, page)
    throw new MissingError('page', id, 'load')
  }
}

/** Returns the stored siblings nearest to a page, without the page itself. */
function pickSiblings<V>(id: number, siblings: readonly NodeRef<V>[]): number[] {
  const stored = siblings.filter((ref) => typeof ref === 'number')
  const start = Math.max(0, Math.min(stored.indexOf(id) - MAX_SIBLINGS / 2, stored.length - MAX_SIBLINGS))
  return stored.slice(start, start + MAX_SIBLINGS).filter((ref) => ref !== id)
}

/** A page ready to be stored. */
export interface EncodedPage {
  readonly id: number
  readonly bytes: Uint8Array
}

/** Counts the nodes of a tree that are not stored yet. */
export function countUnstored<V>(root: NodeRef<V>): number {
  if (typeof root === 'number' || root.id !== 0) return 0
  if (!isBranch(root)) return 1
  return root.children.reduce<number>((count, child) => count + countUnstored(child), 1)
}

/**
 * Assigns an id to every unstored node, children before parents, and encodes it. From then on those nodes are shared
 * and never change. Returns the id of the root.
 */
export function flushNodes<V>(
  root: NodeRef<V>,
  codec: PageCodec<V>,
  nextId: () => number,
  store: (page: EncodedPage, node: TreeNode<V>) => void,
): number {
  if (typeof root === 'number') return root
  if (root.id !== 0) return root.id
  if (isBranch(root)) {
    for (const [index, child] of root.children.entries()) {
      if (typeof child !== 'number') root.children[index] = flushNodes(child, codec, nextId, store)
    }
  }
  root.id = nextId()
  root.edit = null
  store({ id: root.id, bytes: codec.encode(root) }, root)
  return root.id
}
