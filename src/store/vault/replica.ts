import { VfsError } from '../../vfs/index.ts'
import { applyOperation } from '../files/apply.ts'
import { Files, type Moment } from '../files/files.ts'
import { isFreeing } from '../files/freeing.ts'
import type { FileOperation, JournalEntry, Provenance, Replaced } from '../files/operation.ts'
import type { EngineReader } from '../reader.ts'
import { unseal } from '../sealed.ts'
import type { Held } from '../sessions/session-entry.ts'
import type { NodeRef } from '../tree/node.ts'
import type { TreeValue } from '../tree/records.ts'
import { type NodeSource, Tree } from '../tree/tree.ts'
import { decodeHead, type Head } from './head.ts'
import { decodeEntry } from './journal.ts'
import { OpenInodes } from './open-inodes.ts'
import { assertWithinQuota, type Quota, quotaKey } from './quota.ts'

const ROWS_AT_ONCE = 1000

/** Decides on the current files what to do, if anything; asked again if somebody else committed first. */
export type Plan = (files: Files) => FileOperation | null

/** What an operation was seen to do, on a fork of the files. */
export interface Outcome {
  readonly operation: FileOperation
  /** The row of the journal it was to be: if it becomes another, the files are others, too. */
  readonly seq: number
  readonly replaced: Replaced
  readonly root: NodeRef<TreeValue>
}

/** An operation that is applied to the tree in memory. */
export interface Performed {
  /** As it goes into the journal. */
  readonly entry: JournalEntry
  /** Whether it is one that a full disk does not stand against. */
  readonly frees: boolean
}

/**
 * A vault's tree in memory: the stored one with the rows of the journal applied that came after it.
 * It follows what others commit, and can always go back to what is committed.
 */
export class Replica implements Held {
  readonly files: Files
  readonly tree: Tree<TreeValue>
  readonly opens: OpenInodes
  readonly #source: NodeSource<TreeValue>
  readonly #reader: EngineReader
  readonly #key: string
  #head: Head
  #seq: number
  /** The tree with everything that is committed and nothing else; undefined if it would have to be made again. */
  #committed: NodeRef<TreeValue> | undefined
  /** Keeping the committed tree costs a copy of a path with each commit: it is only done where it has been missed. */
  #keepsCommitted = false
  /** Whether what is in memory is less than was known before: rows have to be taken in again before anybody reads. */
  #isForgotten = false
  /** What was committed when it was forgotten. */
  #lastKnown: NodeRef<TreeValue> | undefined
  #quota: Quota | undefined
  /** The last row that those who have files open know of: what comes up to it again is nothing new to them. */
  #seenByOpens: number

  constructor(source: NodeSource<TreeValue>, reader: EngineReader, key: string, head: Head) {
    this.#source = source
    this.#reader = reader
    this.opens = new OpenInodes(reader.session)
    this.#key = key
    this.#head = head
    this.#seq = head.seq
    this.#seenByOpens = head.seq
    this.#committed = head.root
    this.tree = new Tree(source, head.root)
    this.files = new Files(this.tree)
    reader.session.hold(this)
  }

  /** What is open here stays as it was last known, whatever others remove. */
  storedRoots(isBusy: boolean): number[] {
    return isBusy || !this.opens.isEmpty ? [this.#head.root] : []
  }

  get head(): Head {
    return this.#head
  }

  /** The last row of the journal that is committed, as far as this process knows. */
  get seq(): number {
    return this.#seq
  }

  get quota(): Quota {
    return this.#quota ?? {}
  }

  /** What is committed, without what is only planned. */
  committed(): Files {
    return this.#committed === undefined ? this.files : new Files(new Tree(this.#source, this.#committed))
  }

  get isForgotten(): boolean {
    return this.#isForgotten
  }

  /** What is committed as far as this process knew last, forgotten or not. */
  known(): Files {
    return this.#lastKnown === undefined
      ? this.committed()
      : new Files(new Tree(this.#source, this.#lastKnown))
  }

  /** The tree as it is now, to become the committed one if a commit succeeds. */
  mark(): NodeRef<TreeValue> | undefined {
    return this.#keepsCommitted || this.#reader.isRemote ? this.tree.snapshot() : undefined
  }

  /** So many rows more are committed. */
  advance(rows: number, mark: NodeRef<TreeValue> | undefined): void {
    this.#seq += rows
    this.#committed = mark
    this.#settleOpens()
  }

  /** The tree is stored, as the head now says. */
  folded(head: Head): void {
    this.#becomes(head)
  }

  /** Back to what is stored; the rows since then have to be taken in again. */
  forget(): void {
    this.opens.rollBack()
    this.#regress()
    this.#becomes(this.#head)
  }

  #regress(): void {
    if (!this.#isForgotten) this.#lastKnown = this.#committed
    this.#isForgotten = true
  }

  /** Applies what a plan decides. If it throws, nothing has changed. */
  perform(
    plan: Plan,
    by: Provenance,
    time: number,
    seq: number,
    pending: () => readonly JournalEntry[],
  ): Performed | null {
    const { changes } = this.tree
    const before = this.#reader.isRemote ? this.tree.snapshot() : undefined
    try {
      const operation = plan(this.files)
      if (operation === null) return null
      const counters = this.#quota && this.files.counters()
      const frees = isFreeing(operation, this.files)
      this.opens.beforeOperation(this.files, operation)
      const replaced = applyOperation(this.files, operation, momentOf(time, seq))
      if (this.#quota && counters) assertWithinQuota(this.#quota, operation, counters, this.files.counters())
      return { entry: entryOf(operation, replaced, by, time), frees }
    } catch (error) {
      // Nearly every refusal comes before the first change; the few others cost a second pass.
      if (before !== undefined) this.tree.reset(before)
      else if (this.tree.changes !== changes) this.#applyAgain(pending())
      throw error
    }
  }

  /** Becomes what an operation has made of a fork of these files. */
  adopt({ operation, replaced, root }: Outcome, by: Provenance, time: number): Performed {
    const frees = isFreeing(operation, this.files)
    this.opens.beforeOperation(this.files, operation)
    this.tree.reset(root)
    return { entry: entryOf(operation, replaced, by, time), frees }
  }

  /** Drops what is only planned. */
  rollBack(): void {
    this.opens.rollBack()
    this.#backToCommitted()
  }

  #backToCommitted(): void {
    this.#keepsCommitted = true
    if (this.#committed !== undefined) {
      this.tree.reset(this.#committed)
      return
    }
    const { seq } = this
    this.#becomes(this.#head)
    this.#applyRows(seq)
  }

  /** Takes in what others have committed; true if there was anything. ENOENT if they have deleted the vault. */
  takeIn(): boolean {
    const { seq } = this
    this.#followHead()
    this.#applyRows(Number.POSITIVE_INFINITY)
    this.#isForgotten = false
    this.#lastKnown = undefined
    this.#settleOpens()
    return this.#seq > seq
  }

  #applyAgain(pending: readonly JournalEntry[]): void {
    this.#backToCommitted()
    for (const [index, { operation, time }] of pending.entries())
      applyOperation(this.files, operation, momentOf(time, this.#seq + index + 1))
  }

  /** Another process may have folded, and a garbage collection may take what its pages replaced: changes over to them. */
  #followHead(): void {
    const bytes = this.#reader.record(this.#key)
    const head = bytes && decodeHead(bytes)
    if (head === undefined || head.id !== this.#head.id) {
      const name = this.#key.slice(this.#key.indexOf('/') + 1)
      throw new VfsError('ENOENT', '/', { detail: `the vault '${name}' was deleted` })
    }
    const quota = this.#reader.record(quotaKey(head.id))
    this.#quota = quota && unseal<Quota>(quota, 'the quota of a vault')
    // A restore may bring back the very tree that is stored: then only the row it includes is another.
    if (head.root === this.#head.root && head.seq === this.#head.seq) {
      // A checkpoint changes nothing but their number.
      this.#head = head
      return
    }
    if (head.seq < this.#seq) this.#regress()
    this.#becomes(head)
    if (head.seq >= this.#seenByOpens) this.opens.afterJump(this.files)
  }

  #settleOpens(): void {
    this.#seenByOpens = this.#seq
    this.opens.settle(this.files)
  }

  #becomes(head: Head): void {
    this.opens.beforeRemoval(this.files)
    this.#head = head
    this.#seq = head.seq
    this.#committed = head.root
    this.tree.reset(head.root)
    if (!this.opens.isEmpty) this.#reader.session.changed(true)
  }

  /** Applies rows of the journal up to one to a tree that has all before them and nothing else. */
  #applyRows(upTo: number): void {
    for (;;) {
      const limit = Math.min(ROWS_AT_ONCE, upTo - this.#seq)
      const rows = limit > 0 ? this.#reader.rows(this.#head.id, this.#seq, limit) : []
      const [first] = rows
      if (first !== undefined && first.seq !== this.#seq + 1) {
        this.#skipPruned(first.seq)
        continue
      }
      for (const { seq, bytes } of rows) this.#applyRow(seq, decodeEntry(bytes))
      if (rows.length > 0) this.#committed = this.mark()
      if (rows.length < ROWS_AT_ONCE) return
    }
  }

  /** Rows between have been pruned: then a tree that includes them is stored, and named by now. */
  #skipPruned(next: number): void {
    const { seq } = this.#head
    this.#followHead()
    if (this.#head.seq > seq) return
    const detail = `the journal has no rows from ${this.#seq + 1} to ${next - 1}; run fsck`
    throw new VfsError('EIO', '/', { op: 'load', detail })
  }

  #applyRow(seq: number, { operation, time }: JournalEntry): void {
    try {
      if (seq > this.#seenByOpens) this.opens.beforeOperation(this.files, operation)
      applyOperation(this.files, operation, momentOf(time, seq))
      this.#seq = seq
      if (this.#reader.isRemote) this.#committed = this.tree.snapshot()
    } catch (error) {
      // Half a row is worse than none: where the last whole one is not kept, everything is taken in again.
      if (this.#reader.isRemote && this.#committed !== undefined) this.tree.reset(this.#committed)
      else this.#becomes(this.#head)
      throw error
    }
  }
}

function entryOf(operation: FileOperation, replaced: Replaced, by: Provenance, time: number): JournalEntry {
  return { time, ...by, operation, ...(replaced !== null && { before: replaced }) }
}

export function momentOf(time: number, seq: number): Moment {
  const seconds = Math.floor(time / 1000)
  return { time: { seconds, nanos: Math.round((time - seconds * 1000) * 1e6) }, seq }
}
