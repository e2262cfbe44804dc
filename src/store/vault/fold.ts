import { isRecordStored } from '../commit-once.ts'
import type { Batch, RecordRow } from '../engine.ts'
import type { Files } from '../files/files.ts'
import type { EngineReader } from '../reader.ts'
import { isBranch, type Node } from '../tree/node.ts'
import { countUnstored, type EncodedPage, foldNodes, type NodeCache } from '../tree/node-cache.ts'
import type { PageCodec } from '../tree/page.ts'
import type { TreeValue } from '../tree/records.ts'
import { encodeHead, type Head } from './head.ts'
import type { Ids } from './ids.ts'
import type { Replica } from './replica.ts'

/** What is committed together with a fold. */
export interface FoldOptions {
  /** Removes from the tree what nobody asks for any more; whatever is left stands for the same files. May run twice. */
  readonly tidy?: (files: Files) => void
  /** Survives power loss when it is done. */
  readonly durable?: boolean
  /** Throws if it cannot be done. */
  readonly check?: () => void
  /** Comes before a collection: on a full disk, it may use the room that is set aside. */
  readonly frees?: boolean
  /** Counts a checkpoint in the head. */
  readonly isCheckpoint?: boolean
  /** New records that name the stored tree, as the head does. */
  readonly records?: (head: Head) => readonly { readonly key: string; readonly bytes: Uint8Array }[]
}

/** Of what a vault's log is made, as far as a fold needs it. */
export interface FoldParts {
  readonly cache: NodeCache<TreeValue>
  readonly codec: PageCodec<TreeValue>
  readonly ids: Ids
  /** The record that holds the head. */
  readonly key: string
}

/** Turns the tree in memory into pages, and the head into one that names them. */
export class Fold {
  readonly #parts: FoldParts
  readonly #replica: Replica
  readonly #options: FoldOptions
  /** The nodes that got an id here. */
  readonly #nodes = new Map<number, Node<TreeValue>>()
  #named: readonly RecordRow[] = []
  #head: Head

  constructor(parts: FoldParts, replica: Replica, options: FoldOptions) {
    this.#parts = parts
    this.#replica = replica
    this.#options = options
    this.#head = replica.head
  }

  /** The head that names the pages. */
  get head(): Head {
    return this.#head
  }

  get root(): number {
    return this.#head.root
  }

  /** Everything that may have to wait for an engine; what follows does not. */
  prepare(): void {
    this.#options.check?.()
    this.#options.tidy?.(this.#replica.files)
    this.#parts.ids.ensure(countUnstored(this.#replica.tree.snapshot()))
  }

  /** What to commit; null if everything is stored already. Its nodes count as stored from here on. */
  batch(): Batch | null {
    const { codec, cache, ids, key } = this.#parts
    const { head, seq, tree } = this.#replica
    const { durable = false, frees = false, isCheckpoint = false, records, tidy } = this.#options
    const pages: EncodedPage[] = []
    const root = foldNodes(tree.snapshot(), codec, ids.next, (page, node) => {
      pages.push(page)
      this.#nodes.set(page.id, node)
      cache.keep(node, page.bytes.length)
    })
    const checkpoints = (head.checkpoints ?? 0) + 1
    this.#head = { ...head, root, seq, ...(isCheckpoint && { checkpoints }) }
    const named = records?.(this.#head) ?? []
    this.#named = named
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
    const [named] = this.#named
    if (named !== undefined) return isRecordStored(reader, named)
    const found = reader.record(this.#parts.key)
    return found !== undefined && Buffer.compare(found, encodeHead(this.#head)) === 0
  }

  /** The batch was not committed: whoever else has these nodes, a fork in memory for one, has them in memory only. */
  undo(): void {
    for (const [id, node] of this.#nodes) {
      this.#parts.cache.drop(id)
      node.id = 0
      if (!isBranch(node)) continue
      for (const [index, child] of node.children.entries()) {
        const unstored = typeof child === 'number' ? this.#nodes.get(child) : undefined
        if (unstored !== undefined) node.children[index] = unstored
      }
    }
  }
}
