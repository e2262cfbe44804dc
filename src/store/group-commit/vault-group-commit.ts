import type { GroupCommit, JournalRow } from '../engine.ts'
import type { Provenance } from '../files/operation.ts'
import { listOperationBlobs } from '../files/operation-blobs.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import type { BlobStore } from '../vault/blob-store.ts'
import { encodeJournalEntry } from '../vault/journal.ts'
import { toMoment } from '../vault/replica.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import type { TransactionOperation } from './coalesced-operations.ts'
import { VaultTransaction } from './vault-transaction.ts'

/** Limits of one group. Its operations all have the time at which the group began, so it must stay short. */
const MAX_OPERATIONS = 512
const MAX_BYTES = 4 * 1024 * 1024
const MAX_AGE_MS = 4
/** Number of committed operations after which the journal is flushed to pages: an open has to replay the rest. */
const FLUSH_AFTER_OPERATIONS = 8000

/**
 * Group commit of one vault. The engine stores each operation in its side log before it is acknowledged, so a killed
 * process loses none. The group has the write lock, so no acknowledged operation is refused later. Others see the
 * group after its commit: some milliseconds later, or as soon as another process waits for the lock.
 */
export class VaultGroupCommit {
  readonly #log: VaultLog
  readonly #blobs: BlobStore
  readonly #provenance: Provenance
  readonly #engineGroupCommit: GroupCommit
  #transaction: VaultTransaction | undefined
  #startedAt = 0
  #time = 0
  #appended = 0
  /** Counts the operations of all groups, so that no two states have the same number. */
  #appendedInAll = 0
  #bytes = 0
  #unflushedOperations = 0

  constructor(log: VaultLog, blobs: BlobStore, provenance: Provenance, engineGroupCommit: GroupCommit) {
    this.#log = log
    this.#blobs = blobs
    this.#provenance = provenance
    this.#engineGroupCommit = engineGroupCommit
  }

  /** Files with the operations of the open group; undefined if no group is open. */
  get files(): VaultFiles | undefined {
    return this.#transaction?.files
  }

  /**
   * A number that changes with each operation; 0 if no group is open. A group whose operations were all refused has a
   * number, too: it holds the lock.
   */
  get pendingVersion(): number {
    return this.#transaction === undefined ? 0 : this.#appendedInAll + 1
  }

  /**
   * Returns the transaction of the open group, or begins one; undefined if other processes write, too, or the disk is
   * nearly full.
   */
  begin(): VaultTransaction | undefined {
    if (this.#transaction !== undefined && this.#isDue()) this.commit()
    return this.#transaction ?? this.#beginTransaction()
  }

  /** Appends the new operations of the transaction to the side log, so that they can be acknowledged. */
  append(): void {
    const added = this.#transaction?.takeNewOperations() ?? []
    if (added.length === 0) return
    const blobs = added
      .flatMap(({ operation }) => listOperationBlobs(operation))
      .flatMap(({ blob }) => this.#blobs.findStagedRow(blob) ?? [])
    const first = this.#log.seq + 1 + this.#appended
    const journal = added.map((operation, index) => this.#toJournalRow(operation, first + index))
    this.#appended += added.length
    this.#appendedInAll += added.length
    this.#bytes += blobs.reduce((sum, { bytes }) => sum + bytes.length, 0)
    try {
      this.#engineGroupCommit.append({ blobs, journal })
    } catch {
      // The side log has no space: the group is committed to the store itself.
      this.commit()
    }
  }

  /** Commits the open group; others see it when this returns. */
  commit(): void {
    const transaction = this.#transaction
    if (transaction === undefined) return
    this.#transaction = undefined
    try {
      this.#engineGroupCommit.commit(() => {
        const prepared = transaction.prepare()
        if (prepared !== null) this.#log.submitPreparedSync(prepared, this.#provenance, this.#time)
      })
    } catch (error) {
      // The engine may have committed the operations one by one, from the side log.
      this.#log.reload()
      throw error
    }
    this.#flushIfLong(transaction.size)
  }

  #beginTransaction(): VaultTransaction | undefined {
    if (!this.#engineGroupCommit.begin()) return undefined
    this.#startedAt = performance.now()
    this.#time = Date.now()
    this.#appended = 0
    this.#bytes = 0
    try {
      const files = this.#log.readFiles()
      const moment = toMoment(this.#time, this.#log.seq + 1)
      this.#transaction = new VaultTransaction(files, moment, this.#log.quota, this.#blobs)
    } catch (error) {
      this.#engineGroupCommit.commit(() => {})
      throw error
    }
    return this.#transaction
  }

  /** True if the group has reached a limit, or another process waits for the lock. */
  #isDue(): boolean {
    if (this.#appended >= MAX_OPERATIONS || this.#bytes >= MAX_BYTES) return true
    return performance.now() - this.#startedAt >= MAX_AGE_MS || this.#engineGroupCommit.receiveLockRequest()
  }

  #toJournalRow({ operation, before }: TransactionOperation, seq: number): JournalRow {
    const entry = { time: this.#time, ...this.#provenance, operation, ...(before !== null && { before }) }
    return { vault: this.#log.head.id, seq, bytes: encodeJournalEntry(entry) }
  }

  /** Flushes pages by the number of operations: one journal row may have hundreds. */
  #flushIfLong(operations: number): void {
    this.#unflushedOperations += operations
    if (this.#unflushedOperations < FLUSH_AFTER_OPERATIONS) return
    this.#unflushedOperations = 0
    try {
      this.#log.flushPages()
    } catch {
      // The journal has everything: a later flush is as good.
    }
  }
}
