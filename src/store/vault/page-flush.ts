import { isRecordStored } from '../commit-once.ts'
import type { Batch, RecordRow } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import { countUnstored, type EncodedPage, flushNodes, type NodeCache } from '../tree/node-cache.ts'
import type { PageCodec } from '../tree/page-codec.ts'
import { isBranch, type TreeNode } from '../tree/tree-node.ts'
import type { TreeValue } from '../tree/tree-values.ts'
import type { IdAllocator } from './id-allocator.ts'
import { isLandmarkDue, toLandmarkRecord } from './landmarks.ts'
import type { Replica } from './replica.ts'
import { encodeHead, type VaultHead } from './vault-head.ts'

/** Options of a page flush, and records committed with it. */
export interface PageFlushOptions {
  /** Removes obsolete entries from the tree without changing the files. May run twice. */
  readonly tidy?: (files: VaultFiles) => void
  /** True if it must survive power loss. */
  readonly durable?: boolean
  /** Throws if the flush must not proceed. */
  readonly check?: () => void
  /** True before a collection and before a read: on a full disk it may use the reserve. */
  readonly frees?: boolean
  /** True to count a checkpoint in the head. */
  readonly isCheckpoint?: boolean
  /** Creates records that name the stored tree, as the head does. */
  readonly records?: (head: VaultHead) => readonly { readonly key: string; readonly bytes: Uint8Array }[]
}

/** Parts of a vault's log that a flush needs. */
export interface PageFlushContext {
  readonly cache: NodeCache<TreeValue>
  readonly codec: PageCodec<TreeValue>
  readonly ids: IdAllocator
  /** Key of the head's record. */
  readonly key: string
}

/** Writes the in-memory tree as pages, and a head that names them. */
export class PageFlush {
  readonly #context: PageFlushContext
  readonly #replica: Replica
  readonly #options: PageFlushOptions
  /** Nodes that received an id here. */
  readonly #nodes = new Map<number, TreeNode<TreeValue>>()
  /** Records from the options that name the stored tree. */
  #treeRecords: readonly RecordRow[] = []
  #head: VaultHead

  constructor(context: PageFlushContext, replica: Replica, options: PageFlushOptions) {
    this.#context = context
    this.#replica = replica
    this.#options = options
    this.#head = replica.head
  }

  /** Head that names the pages. */
  get head(): VaultHead {
    return this.#head
  }

  get root(): number {
    return this.#head.root
  }

  /** Does everything that may wait for an engine; the later steps do not. */
  prepare(): void {
    this.#options.check?.()
    this.#options.tidy?.(this.#replica.files)
    this.#context.ids.ensure(countUnstored(this.#replica.tree.snapshot()))
  }

  /** Creates the batch; null if everything is stored. Its nodes count as stored from here on. */
  createBatch(): Batch | null {
    const { codec, cache, ids, key } = this.#context
    const { head, seq, tree } = this.#replica
    const { durable = false, frees = false, isCheckpoint = false, records, tidy } = this.#options
    const pages: EncodedPage[] = []
    const root = flushNodes(tree.snapshot(), codec, ids.next, (page, node) => {
      pages.push(page)
      this.#nodes.set(page.id, node)
      cache.put(node, page.bytes.length)
    })
    const checkpoints = (head.checkpoints ?? 0) + 1
    const isLandmark = isLandmarkDue(head, seq)
    this.#head = {
      ...head,
      root,
      seq,
      ...(isCheckpoint && { checkpoints }),
      ...(isLandmark && { landmark: seq }),
    }
    const landmarks = isLandmark ? [toLandmarkRecord(head.id, { root, seq })] : []
    const treeRecords = records?.(this.#head) ?? []
    this.#treeRecords = treeRecords
    if (pages.length + treeRecords.length === 0 && head.seq === seq && !durable) return null
    const absent = treeRecords.map((row) => ({ key: row.key, bytes: null }))
    return {
      expect: [{ key, bytes: encodeHead(head) }, ...absent],
      records: [{ key, bytes: encodeHead(this.#head) }, ...landmarks, ...treeRecords],
      pages,
      durable,
      isDerived: !durable && !isCheckpoint && treeRecords.length === 0 && tidy === undefined,
      frees,
    }
  }

  /** Reports whether the batch was committed: its records exist or, without any, the head is the same. */
  isStored(reader: EngineReader): boolean {
    const [record] = this.#treeRecords
    if (record !== undefined) return isRecordStored(reader, record)
    const found = reader.readRecord(this.#context.key)
    return found !== undefined && Buffer.compare(found, encodeHead(this.#head)) === 0
  }

  /** Reverts a failed commit: other owners of these nodes, such as a fork, have them in memory only. */
  undo(): void {
    for (const [id, node] of this.#nodes) {
      this.#context.cache.delete(id)
      node.id = 0
      if (!isBranch(node)) continue
      for (const [index, child] of node.children.entries()) {
        const unstored = typeof child === 'number' ? this.#nodes.get(child) : undefined
        if (unstored !== undefined) node.children[index] = unstored
      }
    }
  }
}
