import { isVfsError } from '../../vfs/index.ts'
import type { Answer, RecordRow } from '../engine.ts'
import { countUnstored, type EncodedPage, foldNodes } from '../tree/node-cache.ts'
import type { PageCodec } from '../tree/page.ts'
import type { TreeValue } from '../tree/records.ts'
import { type NodeSource, Tree } from '../tree/tree.ts'
import type { Ids } from '../vault/ids.ts'
import { BLOCK_DOCUMENTS, BLOCK_POSTINGS, BlockBuilder } from './block-builder.ts'
import type { BlockInfo, IndexRecord, IndexRecords, IndexState, ReadRecord } from './index-record.ts'
import { removeBlock, StoredBlock, writeBlock } from './stored-block.ts'

/** Runs synchronous work that may meet a page that is a network away; then it is done again. */
type Retry = <T>(work: () => T) => Answer<T>

export interface IndexWriterParts {
  readonly source: NodeSource<TreeValue>
  readonly codec: PageCodec<TreeValue>
  readonly ids: Pick<Ids, 'ensure' | 'next'>
  readonly records: IndexRecords
  readonly retry: Retry
}

/** A stored tree, and the records that hold it: while these are as they are, its pages stay. */
export interface HeldTree {
  readonly root: number
  readonly expect: readonly RecordRow[]
}

/** What an index is to become: its start, if there is one, and the tree it is to cover. */
export interface IndexGoal {
  readonly read: ReadRecord
  /** What is kept; without it, everything is made anew. */
  readonly base: IndexState | undefined
  readonly covers: HeldTree
  /** Documents of these inodes are no longer worth keeping. */
  readonly stale: ReadonlySet<number>
  readonly gone: number
}

/**
 * Brings an index up to date: files are added, and whenever they fill a block it is stored, so memory is bounded.
 * Until the end the record names the new index as a draft that nobody uses, but that garbage collection leaves alone.
 * Whoever replaces the record first wins; the other gives up, for the index is only an aid.
 */
export class IndexWriter {
  readonly #parts: IndexWriterParts
  readonly #goal: IndexGoal
  readonly #tree: Tree<TreeValue>
  readonly #builder = new BlockBuilder()
  #expect: readonly RecordRow[]
  #blocks: BlockInfo[]
  #hasLost = false
  #isHeld = false

  constructor(parts: IndexWriterParts, goal: IndexGoal) {
    this.#parts = parts
    this.#goal = goal
    this.#expect = [...goal.read.expect, ...goal.covers.expect]
    this.#blocks = [...(goal.base?.blocks ?? [])]
    this.#tree = goal.base === undefined ? new Tree(parts.source) : new Tree(parts.source, goal.base.index)
  }

  /** Adds a file; without bytes, one that has to be read in every search. */
  async add(inode: number, bytes: Uint8Array | undefined): Promise<void> {
    if (this.#hasLost) return
    this.#builder.add(inode, bytes)
    if (!this.#builder.isFull) return
    await this.#storeBlock()
    await this.#commit(false)
  }

  /** Notes that this index is in the making: from now on what it covers and what it is made of stay. */
  async hold(): Promise<void> {
    if (!this.#isHeld) await this.#commit(false)
  }

  /** Takes the note back: nothing will come of it. */
  async abandon(): Promise<void> {
    if (!this.#isHeld || this.#hasLost) return
    const { current } = this.#goal.read.record
    await this.#replace(current === undefined ? {} : { current }, [])
  }

  /** Stores what is left, and makes this the index that is used. */
  async finish(): Promise<void> {
    await this.#joinSmallBlocks()
    if (this.#builder.documents > 0) await this.#storeBlock()
    await this.#commit(true)
  }

  async #storeBlock(): Promise<void> {
    const id = (this.#blocks.at(-1)?.id ?? 0) + 1
    const block = this.#builder.take()
    await this.#parts.retry(() => writeBlock(this.#tree, id, block))
    this.#blocks.push({ id, documents: block.inodes.length, postings: block.postings })
  }

  /** Takes the last blocks into the one that is being made, as long as they are not much larger than it. */
  async #joinSmallBlocks(): Promise<void> {
    for (let last = this.#blocks.at(-1); last !== undefined; last = this.#blocks.at(-1)) {
      const { id, documents, postings } = last
      const builder = this.#builder
      const isLarge = documents > 2 * builder.documents && postings > 2 * builder.postings
      const isTooMuch =
        documents + builder.documents > BLOCK_DOCUMENTS || postings + builder.postings > BLOCK_POSTINGS
      if (isLarge || isTooMuch) return
      await this.#takeIn(id)
      await this.#parts.retry(() => removeBlock(this.#tree, id))
      this.#blocks.pop()
    }
  }

  async #takeIn(id: number): Promise<void> {
    const { inodes, unindexed, lists } = await this.#parts.retry(() => {
      const block = new StoredBlock(this.#tree, id)
      return { inodes: block.inodes(), unindexed: block.unindexed, lists: [...block.postings()] }
    })
    const known = new Set(this.#builder.inodes)
    const isKept = (inode: number) => !known.has(inode) && !this.#goal.stale.has(inode)
    const trigrams = inodes.map((): number[] => [])
    for (const { trigram, documents } of lists) {
      for (const document of documents) trigrams[document]?.push(trigram)
    }
    const open = new Set(unindexed)
    for (const [document, inode] of inodes.entries()) {
      if (!isKept(inode)) continue
      if (open.has(document)) this.#builder.add(inode, undefined)
      else this.#builder.addTrigrams(inode, trigrams[document] ?? [])
    }
  }

  async #commit(isComplete: boolean): Promise<void> {
    if (this.#hasLost) return
    const { codec, ids, retry } = this.#parts
    const { base, covers, gone, read } = this.#goal
    const pages: EncodedPage[] = []
    await retry(() => ids.ensure(countUnstored(this.#tree.snapshot())))
    const index = foldNodes(this.#tree.snapshot(), codec, ids.next, (page) => pages.push(page))
    this.#tree.reset(index)
    const dead = base === undefined ? 0 : base.dead + gone
    const state: IndexState = { covers: covers.root, index, blocks: this.#blocks, dead }
    const current = read.record.current === undefined ? {} : { current: read.record.current }
    await this.#replace(isComplete ? { current: state } : { ...current, draft: state }, pages)
    this.#isHeld = !isComplete
  }

  async #replace(record: IndexRecord, pages: readonly EncodedPage[]): Promise<void> {
    try {
      const expect = await this.#parts.records.replace(this.#expect, record, pages)
      if (expect === undefined) this.#hasLost = true
      else this.#expect = expect
    } catch (error) {
      // A search must not fail because its index could not be kept.
      if (!isVfsError(error)) throw error
      this.#hasLost = true
    }
  }
}
