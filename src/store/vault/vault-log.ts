import type { Caller } from '../../vfs/index.ts'
import type { Engine, JournalRow } from '../engine.ts'
import { applyOperation } from '../files/apply.ts'
import { Files, type Moment } from '../files/files.ts'
import type { FileOperation, JournalEntry } from '../files/operation.ts'
import type { NodeRef } from '../tree/node.ts'
import { type EncodedPage, foldNodes, type NodeCache } from '../tree/node-cache.ts'
import type { PageCodec } from '../tree/page.ts'
import type { TreeValue } from '../tree/records.ts'
import { Tree } from '../tree/tree.ts'
import type { Blobs } from './blobs.ts'
import { settled } from './settled.ts'

const ROWS_AT_ONCE = 1000
/** How many operations may wait in the journal before they are folded into pages: what an open has to replay. */
const FOLD_AFTER = 2000

/** A vault as it is recorded: its stored tree, and the journal row that tree includes. */
export interface Head {
  readonly id: number
  readonly root: number
  readonly seq: number
  readonly created: number
  /** What it grew from. */
  readonly from?: { readonly vault: string; readonly root: number }
}

export interface VaultLogParts {
  readonly engine: Engine
  readonly cache: NodeCache<TreeValue>
  readonly codec: PageCodec<TreeValue>
  readonly blobs: Blobs
  readonly nextId: () => number
  /** The record that holds the head. */
  readonly key: string
}

/** Decides on the current files what to do; asked again if somebody else committed first. */
export type Plan = (files: Files) => FileOperation

interface Pending {
  readonly plan: Plan
  readonly caller: Caller | undefined
  readonly time: number
  entry: JournalEntry
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * The one way a vault changes. An operation is applied to the tree in memory, appended to the journal together with
 * all others of the same moment, and acknowledged when that is committed; pages follow later, in batches.
 * Whoever loses a race takes in what the winner did and decides again.
 */
export class VaultLog {
  readonly files: Files
  readonly #parts: VaultLogParts
  readonly #tree: Tree<TreeValue>
  #head: Head
  #seq: number
  #committed: NodeRef<TreeValue>
  #pending: Pending[] = []
  #seenChanges = -1

  constructor(parts: VaultLogParts, head: Head) {
    this.#parts = parts
    this.#head = head
    this.#seq = head.seq
    this.#tree = new Tree(parts.cache, head.root)
    this.#committed = head.root
    this.files = new Files(this.#tree)
    this.refresh()
  }

  get head(): Head {
    return this.#head
  }

  /** The last journal row the tree includes. */
  get seq(): number {
    return this.#seq
  }

  /** Takes in what other processes have committed. */
  refresh(): void {
    if (this.#pending.length > 0) return
    const changes = settled(this.#parts.engine.changeCount())
    if (changes === this.#seenChanges) return
    this.#seenChanges = changes
    this.#catchUp()
  }

  /** Does what the plan decides; resolves when it is committed, rejects when it cannot be done. */
  submit(plan: Plan, caller?: Caller): Promise<void> {
    this.refresh()
    const time = Date.now()
    const entry = this.#perform(plan, caller, time, this.#seq + this.#pending.length + 1)
    return new Promise((resolve, reject) => {
      this.#pending.push({ plan, caller, time, entry, resolve, reject })
      if (this.#pending.length === 1) queueMicrotask(() => this.flush())
    })
  }

  /** Commits everything that waits, and folds when the journal has grown long. */
  flush(): void {
    this.#commitPending()
    if (this.#seq - this.#head.seq < FOLD_AFTER) return
    try {
      this.fold()
    } catch {
      // Everything is committed and acknowledged, in the journal; the next flush folds again.
    }
  }

  #commitPending(): void {
    while (this.#pending.length > 0) {
      const waiting = this.#pending
      if (this.#commit(waiting)) {
        this.#pending = []
        this.#seq += waiting.length
        this.#committed = this.#tree.snapshot()
        for (const { resolve } of waiting) resolve()
      } else this.#decideAgain(waiting)
    }
  }

  /** The journal after a row, in order, with everything that was submitted before this call. */
  *entries(after = 0): Generator<JournalEntry & { readonly seq: number }> {
    this.#commitPending()
    for (let seq = after; ; ) {
      const rows = settled(this.#parts.engine.readJournal(this.#head.id, seq, ROWS_AT_ONCE))
      for (const row of rows) yield { ...decodeEntry(row.bytes), seq: row.seq }
      const last = rows.at(-1)
      if (last === undefined || rows.length < ROWS_AT_ONCE) return
      seq = last.seq
    }
  }

  /** Stores the tree as pages and notes it in the head: from here an open, a fork and a checkpoint can start. */
  fold(durable = false): number {
    this.#commitPending()
    this.refresh()
    const pages: EncodedPage[] = []
    const { codec, cache, nextId } = this.#parts
    const root = foldNodes(this.#tree.snapshot(), codec, nextId, (page, node) => {
      pages.push(page)
      cache.keep(node)
    })
    if (pages.length === 0 && this.#head.seq === this.#seq && !durable) return root
    try {
      this.#head = this.#storeFold({ ...this.#head, root, seq: this.#seq }, pages, durable)
    } catch (error) {
      // The nodes have ids now, but are not stored: back to the tree that is, and through the journal again.
      this.#tree.reset(this.#head.root)
      this.#seq = this.#head.seq
      this.#catchUp()
      throw error
    }
    this.#tree.reset(root)
    this.#committed = root
    return root
  }

  /** Returns the head that stands: ours, or that of another process that folded first. */
  #storeFold(head: Head, pages: readonly EncodedPage[], durable: boolean): Head {
    const { engine, key } = this.#parts
    const expect = [{ key, bytes: encodeHead(this.#head) }]
    const isNewest = settled(
      engine.commit({ expect, records: [{ key, bytes: encodeHead(head) }], pages, durable }),
    )
    if (isNewest) return head
    // Its pages stand for the same files as ours; ours are stored too, for the tree in memory names them.
    settled(engine.commit({ pages, durable }))
    return decodeHead(settled(engine.readRecord(key)) ?? encodeHead(this.#head))
  }

  #commit(waiting: readonly Pending[]): boolean {
    const { engine, blobs } = this.#parts
    const journal = waiting.map(({ entry }, index) => this.#row(entry, this.#seq + index + 1))
    const staged = blobs.take()
    try {
      const isAccepted = settled(engine.commit({ journal, blobs: staged }))
      if (!isAccepted) blobs.restage(staged)
      return isAccepted
    } catch (error) {
      blobs.restage(staged)
      // Nothing of it is stored: the tree goes back, and everybody who waits is told.
      this.#pending = []
      this.#tree.reset(this.#committed)
      for (const { reject } of waiting) reject(error)
      return false
    }
  }

  #decideAgain(waiting: readonly Pending[]): void {
    if (this.#pending.length === 0) return
    this.#tree.reset(this.#committed)
    this.#catchUp()
    this.#pending = []
    for (const one of waiting) {
      try {
        one.entry = this.#perform(one.plan, one.caller, one.time, this.#seq + this.#pending.length + 1)
        this.#pending.push(one)
      } catch (error) {
        one.reject(error)
      }
    }
  }

  #perform(plan: Plan, caller: Caller | undefined, time: number, seq: number): JournalEntry {
    const { changes } = this.#tree
    try {
      const operation = plan(this.files)
      applyOperation(this.files, operation, momentOf(time, seq))
      return caller === undefined ? { time, operation } : { time, caller, operation }
    } catch (error) {
      // Nearly every refusal comes before the first change; the few others cost the batch a second pass.
      if (this.#tree.changes !== changes) this.#applyPendingAgain()
      throw error
    }
  }

  #applyPendingAgain(): void {
    this.#tree.reset(this.#committed)
    for (const [index, { entry }] of this.#pending.entries()) {
      applyOperation(this.files, entry.operation, momentOf(entry.time, this.#seq + index + 1))
    }
  }

  #catchUp(): void {
    const { engine } = this.#parts
    for (;;) {
      const rows = settled(engine.readJournal(this.#head.id, this.#seq, ROWS_AT_ONCE))
      for (const row of rows) {
        const { operation, time } = decodeEntry(row.bytes)
        applyOperation(this.files, operation, momentOf(time, row.seq))
        this.#seq = row.seq
      }
      this.#committed = this.#tree.snapshot()
      if (rows.length < ROWS_AT_ONCE) return
    }
  }

  #row(entry: JournalEntry, seq: number): JournalRow {
    return { vault: this.#head.id, seq, bytes: Buffer.from(JSON.stringify(entry)) }
  }
}

export function encodeHead(head: Head): Uint8Array {
  return Buffer.from(JSON.stringify(head))
}

export function decodeHead(bytes: Uint8Array): Head {
  return JSON.parse(Buffer.from(bytes).toString())
}

function decodeEntry(bytes: Uint8Array): JournalEntry {
  return JSON.parse(Buffer.from(bytes).toString())
}

export function momentOf(time: number, seq: number): Moment {
  const seconds = Math.floor(time / 1000)
  return { time: { seconds, nanos: Math.round((time - seconds * 1000) * 1e6) }, seq }
}
