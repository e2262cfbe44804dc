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

/** Capacity in bytes of a scan's own cache. */
const SCAN_CACHE_BYTES = 512 * 1024

export interface NodeCacheOptions<V> {
  readonly codec: PageCodec<V>
  readonly readPage: (id: number) => MaybePromise<Uint8Array | undefined>
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
  readonly #capacity: number
  /** Nodes used since the last rotation, and those of the rotation before: two maps make an LRU without a list. */
  #recent = new Map<number, CachedNode<V>>()
  #older = new Map<number, CachedNode<V>>()
  #bytes = 0

  constructor({ codec, readPage, capacity }: NodeCacheOptions<V>) {
    this.#codec = codec
    this.#readPage = readPage
    this.#capacity = capacity
  }

  /** Returns a source for a full scan, with a small cache of its own: a scan does not evict the nodes of others. */
  createScanSource(): NodeSource<V> {
    const options = { codec: this.#codec, readPage: this.#readPage, capacity: SCAN_CACHE_BYTES }
    const seen = new NodeCache<V>(options)
    return { load: (id) => this.#findCached(id) ?? seen.load(id) }
  }

  load(id: number): TreeNode<V> {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent.node
    const older = this.#older.get(id)
    if (older === undefined) return this.#loadPage(id)
    this.put(older.node, older.bytes)
    return older.node
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

  #loadPage(id: number): TreeNode<V> {
    const page = this.#readPage(id)
    if (!(page instanceof Promise)) return this.#decodeAndCache(id, page)
    throw new PageFault(
      page.then((bytes) => {
        this.#decodeAndCache(id, bytes)
      }),
    )
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
