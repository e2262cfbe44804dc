import { isVfsError } from '../../vfs/index.ts'
import type { MaybePromise, RecordRow } from '../engine.ts'
import { countUnstored, type EncodedPage, flushNodes } from '../tree/node-cache.ts'
import type { PageCodec } from '../tree/page-codec.ts'
import { type NodeSource, Tree } from '../tree/tree.ts'
import type { TreeValue } from '../tree/tree-values.ts'
import type { IdAllocator } from '../vault/id-allocator.ts'
import { BLOCK_DOCUMENTS, BLOCK_POSTINGS, BlockBuilder, type IndexBlock } from './block-builder.ts'
import { BlockThread } from './block-thread.ts'
import type { BlockInfo, IndexRecord, IndexRecordSnapshot, IndexRecords, IndexState } from './index-record.ts'
import { removeBlock, StoredBlock, writeBlock } from './stored-block.ts'

/** Runs synchronous work, and repeats it if a read of a remote engine faults. */
type Retry = <T>(work: () => T) => MaybePromise<T>

export interface IndexWriterContext {
  readonly source: NodeSource<TreeValue>
  readonly codec: PageCodec<TreeValue>
  readonly ids: Pick<IdAllocator, 'ensure' | 'next'>
  readonly records: IndexRecords
  readonly retry: Retry
}

/** A stored tree, and the records that name it: while they are unchanged, its pages stay. */
export interface FlushedTree {
  readonly root: number
  readonly expect: readonly RecordRow[]
}

/** Target of an index update: the index to start from, if any, and the tree to cover. */
export interface IndexTarget {
  readonly snapshot: IndexRecordSnapshot
  /** Index to extend; without it, everything is indexed again. */
  readonly base: IndexState | undefined
  readonly covers: FlushedTree
  /** Inodes whose documents are outdated. */
  readonly stale: ReadonlySet<number>
  /** Number of documents that become outdated. */
  readonly outdated: number
}

/**
 * Updates an index: adds files and stores each full block, so memory is bounded. Until the end, the record names the
 * new index as unused and protects it from collection. The first writer to replace the record wins; the other gives
 * up, for the index is only an optimisation.
 */
export class IndexWriter {
  readonly #context: IndexWriterContext
  readonly #target: IndexTarget
  readonly #tree: Tree<TreeValue>
  readonly #builder = new BlockBuilder()
  /** Builds the blocks of a whole index, which takes as long as to read the files. Merges need the builder here. */
  readonly #thread: BlockThread | undefined
  #expect: readonly RecordRow[]
  #blocks: BlockInfo[]
  #wasOvertaken = false
  #hasDraft = false

  constructor(context: IndexWriterContext, target: IndexTarget) {
    const { snapshot, base, covers } = target
    this.#context = context
    this.#target = target
    this.#expect = [...snapshot.expect, ...covers.expect]
    this.#blocks = [...(base?.blocks ?? [])]
    this.#thread = base === undefined ? new BlockThread() : undefined
    this.#tree = base === undefined ? new Tree(context.source) : new Tree(context.source, base.index)
  }

  /** Adds a file; without bytes, every search reads it. */
  async add(inode: number, bytes: Uint8Array | undefined): Promise<void> {
    if (this.#wasOvertaken) return
    for (const block of await this.#collectBlocks(inode, bytes)) {
      await this.#storeBlock(block)
      await this.#commit(false)
    }
  }

  /** Records the index in progress: from now on collections keep its pages and the tree it covers. */
  async saveDraft(): Promise<void> {
    if (!this.#hasDraft) await this.#commit(false)
  }

  /** Removes the index in progress from the record. */
  async abandon(): Promise<void> {
    this.#thread?.end()
    if (!this.#hasDraft || this.#wasOvertaken) return
    const { current } = this.#target.snapshot.record
    await this.#replaceRecord(current === undefined ? {} : { current }, [])
  }

  /** Stores the remaining documents, and makes this the current index. */
  async finish(): Promise<void> {
    if (this.#thread === undefined) await this.#mergeSmallBlocks()
    for (const block of await this.#collectRest()) await this.#storeBlock(block)
    await this.#commit(true)
  }

  /** Adds a file, and returns the blocks that are full. */
  async #collectBlocks(inode: number, bytes: Uint8Array | undefined): Promise<readonly IndexBlock[]> {
    if (this.#thread !== undefined) return this.#askThread(this.#thread.add(inode, bytes))
    this.#builder.add(inode, bytes)
    return this.#builder.isFull ? [this.#builder.takeBlock()] : []
  }

  async #collectRest(): Promise<readonly IndexBlock[]> {
    if (this.#thread !== undefined) return this.#askThread(this.#thread.finish())
    return this.#builder.documents > 0 ? [this.#builder.takeBlock()] : []
  }

  /** Waits for blocks. Without its thread, the writer gives up. */
  async #askThread(blocks: MaybePromise<readonly IndexBlock[]>): Promise<readonly IndexBlock[]> {
    try {
      return await blocks
    } catch {
      this.#wasOvertaken = true
      return []
    }
  }

  async #storeBlock(block: IndexBlock): Promise<void> {
    const id = (this.#blocks.at(-1)?.id ?? 0) + 1
    await this.#context.retry(() => writeBlock(this.#tree, id, block))
    this.#blocks.push({ id, documents: block.inodes.length, postings: block.postings })
  }

  /** Merges the last blocks into the current one while they are not much larger. */
  async #mergeSmallBlocks(): Promise<void> {
    for (let last = this.#blocks.at(-1); last !== undefined; last = this.#blocks.at(-1)) {
      const { id, documents, postings } = last
      const builder = this.#builder
      const isLarge = documents > 2 * builder.documents && postings > 2 * builder.postings
      const isTooMuch =
        documents + builder.documents > BLOCK_DOCUMENTS || postings + builder.postings > BLOCK_POSTINGS
      if (isLarge || isTooMuch) return
      await this.#absorbBlock(id)
      await this.#context.retry(() => removeBlock(this.#tree, id))
      this.#blocks.pop()
    }
  }

  /** Adds the documents of a stored block that are still current. */
  async #absorbBlock(id: number): Promise<void> {
    const { inodes, unindexed, lists } = await this.#context.retry(() => {
      const block = new StoredBlock(this.#tree, id)
      return { inodes: block.inodes, unindexed: block.unindexed, lists: [...block.readPostings()] }
    })
    const added = new Set(this.#builder.inodes)
    const isKept = (inode: number) => !added.has(inode) && !this.#target.stale.has(inode)
    const trigrams = inodes.map((): number[] => [])
    for (const { trigram, documents } of lists) {
      for (const document of documents) trigrams[document]?.push(trigram)
    }
    const unindexedDocuments = new Set(unindexed)
    for (const [document, inode] of inodes.entries()) {
      if (!isKept(inode)) continue
      if (unindexedDocuments.has(document)) this.#builder.add(inode, undefined)
      else this.#builder.addTrigrams(inode, trigrams[document] ?? [])
    }
  }

  /** Stores the index as the current one if it is complete, as a draft otherwise. */
  async #commit(isComplete: boolean): Promise<void> {
    if (this.#wasOvertaken) return
    const { codec, ids, retry } = this.#context
    const { base, covers, outdated, snapshot } = this.#target
    const pages: EncodedPage[] = []
    await retry(() => ids.ensure(countUnstored(this.#tree.snapshot())))
    const index = flushNodes(this.#tree.snapshot(), codec, ids.next, (page) => pages.push(page))
    this.#tree.reset(index)
    const dead = base === undefined ? 0 : base.dead + outdated
    const state: IndexState = { covers: covers.root, index, blocks: this.#blocks, dead }
    const { current } = snapshot.record
    await this.#replaceRecord(
      isComplete ? { current: state } : { ...(current && { current }), draft: state },
      pages,
    )
    this.#hasDraft = !isComplete
  }

  /** Replaces the record. If that is refused or fails, the writer gives up. */
  async #replaceRecord(record: IndexRecord, pages: readonly EncodedPage[]): Promise<void> {
    try {
      const expect = await this.#context.records.replace(this.#expect, record, pages)
      if (expect === undefined) this.#wasOvertaken = true
      else this.#expect = expect
    } catch (error) {
      // A search must not fail because its index could not be stored.
      if (!isVfsError(error)) throw error
      this.#wasOvertaken = true
    }
  }
}
