import { isRecordStored } from '../commit-once.ts'
import type { Batch, RecordRow } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import { countUnstored, type EncodedPage, flushNodes, type NodeCache } from '../tree/node-cache.ts'
import type { PageCodec } from '../tree/page-codec.ts'
import { isBranch, type TreeNode } from '../tree/tree-node.ts'
import type { TreeValue } from '../tree/tree-values.ts'
import type { IdAllocator } from './id-allocator.ts'
import type { Replica } from './replica.ts'
import { encodeHead, type VaultHead } from './vault-head.ts'

/** What is committed together with a fold. */
export interface PageFlushOptions {
  /** Removes from the tree what nobody asks for any more; whatever is left stands for the same files. May run twice. */
  readonly tidy?: (files: VaultFiles) => void
  /** Survives power loss when it is done. */
  readonly durable?: boolean
  /** Throws if it cannot be done. */
  readonly check?: () => void
  /** Comes before a collection: on a full disk, it may use the room that is set aside. */
  readonly frees?: boolean
  /** Counts a checkpoint in the head. */
  readonly isCheckpoint?: boolean
  /** New records that name the stored tree, as the head does. */
  readonly records?: (head: VaultHead) => readonly { readonly key: string; readonly bytes: Uint8Array }[]
}

/** Of what a vault's log is made, as far as a fold needs it. */
export interface PageFlushContext {
  readonly cache: NodeCache<TreeValue>
  readonly codec: PageCodec<TreeValue>
  readonly ids: IdAllocator
  /** The record that holds the head. */
  readonly key: string
}

/** Turns the tree in memory into pages, and the head into one that names them. */
export class PageFlush {
  readonly #context: PageFlushContext
  readonly #replica: Replica
  readonly #options: PageFlushOptions
  /** The nodes that got an id here. */
  readonly #nodes = new Map<number, TreeNode<TreeValue>>()
  #namedRecords: readonly RecordRow[] = []
  #head: VaultHead

  constructor(parts: PageFlushContext, replica: Replica, options: PageFlushOptions) {
    this.#context = parts
    this.#replica = replica
    this.#options = options
    this.#head = replica.head
  }

  /** The head that names the pages. */
  get head(): VaultHead {
    return this.#head
  }

  get root(): number {
    return this.#head.root
  }

  /** Everything that may have to wait for an engine; what follows does not. */
  prepare(): void {
    this.#options.check?.()
    this.#options.tidy?.(this.#replica.files)
    this.#context.ids.ensure(countUnstored(this.#replica.tree.snapshot()))
  }

  /** What to commit; null if everything is stored already. Its nodes count as stored from here on. */
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
    this.#head = { ...head, root, seq, ...(isCheckpoint && { checkpoints }) }
    const named = records?.(this.#head) ?? []
    this.#namedRecords = named
    if (pages.length + named.length === 0 && head.seq === seq && !durable) return null
    const free = named.map((row) => ({ key: row.key, bytes: null }))
    return {
      expect: [{ key, bytes: encodeHead(head) }, ...free],
      records: [{ key, bytes: encodeHead(this.#head) }, ...named],
      pages,
      durable,
      isDerived: !durable && !isCheckpoint && named.length === 0 && tidy === undefined,
      frees,
    }
  }

  /** Whether the batch was committed: what it named is there or, if it named nothing, the head is the same. */
  isStored(reader: EngineReader): boolean {
    const [named] = this.#namedRecords
    if (named !== undefined) return isRecordStored(reader, named)
    const found = reader.readRecord(this.#context.key)
    return found !== undefined && Buffer.compare(found, encodeHead(this.#head)) === 0
  }

  /** The batch was not committed: whoever else has these nodes, a fork in memory for one, has them in memory only. */
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
