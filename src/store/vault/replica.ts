import { VfsError } from '../../vfs/index.ts'
import { decodeChecksummedJson } from '../checksummed-json.ts'
import type { EngineReader } from '../engine-reader.ts'
import { applyOperation } from '../files/apply.ts'
import { freesSpace } from '../files/frees-space.ts'
import type { FileOperation, JournalEntry, Provenance, ReplacedVersion } from '../files/operation.ts'
import { type Moment, VaultFiles } from '../files/vault-files.ts'
import type { Holdable } from '../sessions/session-entry.ts'
import { type NodeSource, Tree } from '../tree/tree.ts'
import type { NodeRef } from '../tree/tree-node.ts'
import type { TreeValue } from '../tree/tree-values.ts'
import { decodeJournalEntry } from './journal.ts'
import { OpenInodes } from './open-inodes.ts'
import { decodeHead, type VaultHead } from './vault-head.ts'
import { assertWithinQuota, quotaKey, type VaultQuota } from './vault-quota.ts'

const ROWS_PER_READ = 1000

/**
 * Plans an operation on the current files, or none; called again if another writer committed first. Outside of a
 * transaction it gets the number of the operation's journal row.
 */
export type OperationPlan = (files: VaultFiles, row?: number) => FileOperation | null

/** Prepares an operation on a fork of the current files, or none; called again if another writer committed first. */
export type OperationPreparation = (files: VaultFiles, moment: Moment) => PreparedOperation | null

/** The result of an operation on a fork of the files. */
export interface PreparedOperation {
  readonly operation: FileOperation
  /** Expected journal row: if the operation gets another one, the files have changed, too. */
  readonly seq: number
  readonly replaced: ReplacedVersion
  readonly root: NodeRef<TreeValue>
}

/** An operation that is applied to the in-memory tree. */
export interface AppliedOperation {
  /** Entry for the journal. */
  readonly entry: JournalEntry
  /** True if it is allowed on a full disk. */
  readonly frees: boolean
}

/**
 * A vault's in-memory tree: the stored tree with the later journal rows applied. It follows commits of other
 * processes, and can always roll back to the committed state.
 */
export class Replica implements Holdable {
  readonly files: VaultFiles
  readonly tree: Tree<TreeValue>
  readonly openInodes: OpenInodes
  readonly #source: NodeSource<TreeValue>
  readonly #reader: EngineReader
  readonly #key: string
  #head: VaultHead
  #seq: number
  /** Tree with exactly the committed operations; undefined if it has to be rebuilt. */
  #committedRoot: NodeRef<TreeValue> | undefined
  /** Keeping the committed tree copies a path per commit, so it begins after the first rollback that needed it. */
  #keepsCommittedRoot = false
  /** True if memory has less than was known before: reads must catch up first. */
  #isStale = false
  /** Committed tree at the time of the reset. */
  #lastKnownRoot: NodeRef<TreeValue> | undefined
  #quota: VaultQuota | undefined
  /** Last row that the open inodes have seen: replayed rows up to it are not new to them. */
  #openInodesSeq: number

  constructor(source: NodeSource<TreeValue>, reader: EngineReader, key: string, head: VaultHead) {
    this.#source = source
    this.#reader = reader
    this.openInodes = new OpenInodes(reader.session)
    this.#key = key
    this.#head = head
    this.#seq = head.seq
    this.#openInodesSeq = head.seq
    this.#committedRoot = head.root
    this.tree = new Tree(source, head.root)
    this.files = new VaultFiles(this.tree)
    reader.session.hold(this)
  }

  /** Lists the stored tree while the session is busy or inodes are open, whatever other processes remove. */
  listStoredRoots(isBusy: boolean): number[] {
    return isBusy || !this.openInodes.isEmpty ? [this.#head.root] : []
  }

  /** Lists the blobs of rows that are not part of the stored tree, while the session is busy: a collection may forget them. */
  listStoredBlobs(isBusy: boolean): number[] {
    return isBusy ? this.tree.listStoredBlobs() : []
  }

  get head(): VaultHead {
    return this.#head
  }

  /** Last committed journal row that this process knows. */
  get seq(): number {
    return this.#seq
  }

  get quota(): VaultQuota {
    return this.#quota ?? {}
  }

  /** Returns the committed files; on a remote engine without pending operations. */
  getCommittedFiles(): VaultFiles {
    return this.#committedRoot === undefined
      ? this.files
      : new VaultFiles(new Tree(this.#source, this.#committedRoot))
  }

  get isStale(): boolean {
    return this.#isStale
  }

  /** Returns the last known committed files, even after a reset. */
  getLastKnownFiles(): VaultFiles {
    return this.#lastKnownRoot === undefined
      ? this.getCommittedFiles()
      : new VaultFiles(new Tree(this.#source, this.#lastKnownRoot))
  }

  /** Returns a snapshot that becomes the committed tree if the commit succeeds. */
  takeSnapshot(): NodeRef<TreeValue> | undefined {
    return this.#keepsCommittedRoot || this.#reader.isRemote ? this.tree.snapshot() : undefined
  }

  /** Records that this many more rows are committed, and the snapshot from `takeSnapshot`. */
  markCommitted(rows: number, snapshot: NodeRef<TreeValue> | undefined): void {
    this.#seq += rows
    this.#committedRoot = snapshot
    this.#commitOpenInodes()
  }

  /** Records that the tree is stored under this head. */
  markFlushed(head: VaultHead): void {
    this.#resetToHead(head)
  }

  /** Resets to the stored tree; later rows have to be replayed. */
  resetToStored(): void {
    this.openInodes.rollBack()
    this.#markStale()
    this.#resetToHead(this.#head)
  }

  #markStale(): void {
    if (!this.#isStale) this.#lastKnownRoot = this.#committedRoot
    this.#isStale = true
  }

  /** Applies a planned operation. If it throws, nothing has changed. */
  applyPlan(
    plan: OperationPlan,
    provenance: Provenance,
    time: number,
    seq: number,
    pending: () => readonly JournalEntry[],
  ): AppliedOperation | null {
    const { changes } = this.tree
    const before = this.#reader.isRemote ? this.tree.snapshot() : undefined
    try {
      const operation = plan(this.files, seq)
      if (operation === null) return null
      const counters = this.#quota && this.files.getCounters()
      const frees = freesSpace(operation, this.files)
      this.openInodes.beforeOperation(this.files, operation)
      const replaced = applyOperation(this.files, operation, toMoment(time, seq))
      if (this.#quota && counters)
        assertWithinQuota(this.#quota, operation, counters, this.files.getCounters())
      return { entry: createJournalEntry(operation, replaced, provenance, time), frees }
    } catch (error) {
      // Nearly every refusal comes before the first change; the few others cost a second pass.
      if (before !== undefined) this.tree.reset(before)
      else if (this.tree.changes !== changes) this.#reapply(pending())
      throw error
    }
  }

  /** Adopts the result of an operation on a fork of these files. */
  applyPrepared(
    { operation, replaced, root }: PreparedOperation,
    provenance: Provenance,
    time: number,
  ): AppliedOperation {
    const frees = freesSpace(operation, this.files)
    this.openInodes.beforeOperation(this.files, operation)
    this.tree.reset(root)
    return { entry: createJournalEntry(operation, replaced, provenance, time), frees }
  }

  /** Drops pending operations. */
  rollBack(): void {
    this.openInodes.rollBack()
    this.#resetToCommitted()
  }

  /** Resets the tree to the committed operations, and replays them if no tree of them is kept. */
  #resetToCommitted(): void {
    this.#keepsCommittedRoot = true
    if (this.#committedRoot !== undefined) {
      this.tree.reset(this.#committedRoot)
      return
    }
    const { seq } = this
    this.#resetToHead(this.#head)
    this.#applyRows(seq)
  }

  /** Replays commits of other processes; true if there were any. Throws ENOENT if one deleted the vault. */
  catchUp(): boolean {
    const { seq } = this
    this.#gatherNews()
    this.#refreshHead()
    this.#applyRows(Number.POSITIVE_INFINITY)
    this.#isStale = false
    this.#lastKnownRoot = undefined
    this.#commitOpenInodes()
    return this.#seq > seq
  }

  /** Resets to the committed tree and applies pending operations again. */
  #reapply(pending: readonly JournalEntry[]): void {
    this.#resetToCommitted()
    for (const [index, { operation, time }] of pending.entries())
      applyOperation(this.files, operation, toMoment(time, this.#seq + index + 1))
  }

  /** Asks a remote engine in one trip for what catching up reads, as long as no other process flushed pages. */
  #gatherNews(): void {
    const { id } = this.#head
    this.#reader.gather(
      () => this.#reader.readRecord(this.#key),
      () => this.#reader.readRecord(quotaKey(id)),
      () => this.#reader.readJournal(id, this.#seq, ROWS_PER_READ),
    )
  }

  /** Adopts pages that another process flushed, since a collection may remove those they replaced. */
  #refreshHead(): void {
    const bytes = this.#reader.readRecord(this.#key)
    const head = bytes && decodeHead(bytes)
    if (head === undefined || head.id !== this.#head.id) {
      const name = this.#key.slice(this.#key.indexOf('/') + 1)
      throw new VfsError('ENOENT', '/', { detail: `the vault '${name}' was deleted` })
    }
    const quota = this.#reader.readRecord(quotaKey(head.id))
    this.#quota = quota && decodeChecksummedJson<VaultQuota>(quota, 'the quota of a vault')
    // A restore may bring back the stored tree itself: then only its row differs.
    if (head.root === this.#head.root && head.seq === this.#head.seq) {
      // A checkpoint changes only its counter.
      this.#head = head
      return
    }
    if (head.seq < this.#seq) this.#markStale()
    this.#resetToHead(head)
    if (head.seq >= this.#openInodesSeq) this.openInodes.afterCatchUp(this.files)
  }

  #commitOpenInodes(): void {
    this.#openInodesSeq = this.#seq
    this.openInodes.commit(this.files)
  }

  #resetToHead(head: VaultHead): void {
    this.openInodes.beforeRemoval(this.files)
    this.#head = head
    this.#seq = head.seq
    this.#committedRoot = head.root
    this.tree.reset(head.root)
    if (!this.openInodes.isEmpty) this.#reader.session.updateHolds(true)
  }

  /** Replays journal rows up to one, on a tree with exactly the rows before them. */
  #applyRows(upTo: number): void {
    for (;;) {
      const limit = Math.min(ROWS_PER_READ, upTo - this.#seq)
      const rows = limit > 0 ? this.#reader.readJournal(this.#head.id, this.#seq, limit) : []
      const [first] = rows
      if (first !== undefined && first.seq !== this.#seq + 1) {
        this.#skipPruned(first.seq)
        continue
      }
      for (const { seq, bytes } of rows) this.#applyRow(seq, decodeJournalEntry(bytes))
      if (rows.length > 0) this.#committedRoot = this.takeSnapshot()
      if (rows.length < ROWS_PER_READ) return
    }
  }

  /** Reads the current head, whose tree includes rows that were pruned meanwhile. EIO if it does not. */
  #skipPruned(next: number): void {
    const { seq } = this.#head
    this.#refreshHead()
    if (this.#head.seq > seq) return
    const detail = `the journal has no rows from ${this.#seq + 1} to ${next - 1}; run fsck`
    throw new VfsError('EIO', '/', { op: 'load', detail })
  }

  #applyRow(seq: number, { operation, time }: JournalEntry): void {
    try {
      if (seq > this.#openInodesSeq) this.openInodes.beforeOperation(this.files, operation)
      applyOperation(this.files, operation, toMoment(time, seq))
      this.#seq = seq
      if (this.#reader.isRemote) this.#committedRoot = this.tree.snapshot()
    } catch (error) {
      // A partly applied row must not stay: without the committed tree, everything is replayed.
      if (this.#reader.isRemote && this.#committedRoot !== undefined) this.tree.reset(this.#committedRoot)
      else this.#resetToHead(this.#head)
      throw error
    }
  }
}

function createJournalEntry(
  operation: FileOperation,
  replaced: ReplacedVersion,
  provenance: Provenance,
  time: number,
): JournalEntry {
  const { caller, trace } = provenance
  if (caller === undefined && trace === undefined)
    return replaced === null ? { time, operation } : { time, operation, before: replaced }
  return { time, ...provenance, operation, ...(replaced !== null && { before: replaced }) }
}

/** Converts milliseconds since the epoch and a journal row. */
export function toMoment(time: number, seq: number): Moment {
  const seconds = Math.floor(time / 1000)
  return { time: { seconds, nanos: Math.round((time - seconds * 1000) * 1e6) }, seq }
}
