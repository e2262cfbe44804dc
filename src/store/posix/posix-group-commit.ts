import type { GroupCommit } from '../engine.ts'
import type { Provenance } from '../files/operation.ts'
import { listOperationBlobs } from '../files/operation-blobs.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import type { BlobStore } from '../vault/blob-store.ts'
import { encodeJournalEntry } from '../vault/journal.ts'
import { toMoment } from '../vault/replica.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import { PosixTransaction, type TransactionOperation } from './posix-transaction.ts'

/** What one commit takes at most. All of it has the time it began at: no later than a disk's clock would tell. */
const MAX_OPERATIONS = 512
const MAX_BYTES = 4 * 1024 * 1024
const MAX_AGE_MS = 4
/** A longer journal of operations is folded into pages: what an open has to replay. */
const FLUSH_AFTER_OPERATIONS = 8000

/**
 * Changes that are answered one by one and committed together. Each is kept by the engine before it is answered, so
 * a killed process loses none; nobody else can commit meanwhile, so none is ever refused after it was answered.
 * Others see them when they are settled: after some milliseconds, or at once where others wait to write.
 */
export class PosixGroupCommit {
  readonly #log: VaultLog
  readonly #blobs: BlobStore
  readonly #by: Provenance
  readonly #engineGroupCommit: GroupCommit
  #transaction: PosixTransaction | undefined
  #startedAt = 0
  #time = 0
  #appended = 0
  /** Since the first draft: what was kept last is never taken for what was kept before it. */
  #appendedInAll = 0
  #bytes = 0
  #unflushedOperations = 0

  constructor(log: VaultLog, blobs: BlobStore, by: Provenance, gathering: GroupCommit) {
    this.#log = log
    this.#blobs = blobs
    this.#by = by
    this.#engineGroupCommit = gathering
  }

  /** The files with what others do not see yet; undefined if there is nothing of that kind. */
  get files(): VaultFiles | undefined {
    return this.#transaction?.files
  }

  /**
   * Another number after each change, 0 if there is nothing to settle. Something also if every change was refused: the
   * store is held all the same.
   */
  get pendingVersion(): number {
    return this.#transaction === undefined ? 0 : this.#appendedInAll + 1
  }

  /** What to add the next change to; undefined if others write too, and it has to be committed by itself. */
  begin(): PosixTransaction | undefined {
    if (this.#transaction !== undefined && this.#isDue()) this.commit()
    return this.#transaction ?? this.#beginTransaction()
  }

  /** Keeps what was added, so that it can be answered. */
  append(): void {
    const draft = this.#transaction
    if (draft === undefined) return
    const news = draft.takeNewOperations()
    if (news.length === 0) return
    const blobs = news
      .flatMap(({ operation }) => listOperationBlobs(operation))
      .flatMap(({ blob }) => this.#blobs.findStaged(blob) ?? [])
    const first = this.#log.seq + 1 + this.#appended
    const journal = news.map((one, index) => this.#toJournalRow(one, first + index))
    this.#appended += news.length
    this.#appendedInAll += news.length
    this.#bytes += blobs.reduce((sum, { bytes }) => sum + bytes.length, 0)
    try {
      this.#engineGroupCommit.append({ blobs, journal })
    } catch {
      // No room for it beside the store: then it goes into the store itself.
      this.commit()
    }
  }

  /** Commits everything: others see it when this returns. */
  commit(): void {
    const draft = this.#transaction
    if (draft === undefined) return
    this.#transaction = undefined
    try {
      this.#engineGroupCommit.commit(() => {
        const outcome = draft.prepare()
        if (outcome !== null) this.#log.submitPreparedSync(outcome, this.#by, this.#time)
      })
    } catch (error) {
      // It may be committed all the same, one by one from what was kept.
      this.#log.reload()
      throw error
    }
    this.#flushIfLong(draft.size)
  }

  #beginTransaction(): PosixTransaction | undefined {
    if (!this.#engineGroupCommit.begin()) return undefined
    this.#startedAt = performance.now()
    this.#time = Date.now()
    this.#appended = 0
    this.#bytes = 0
    try {
      const files = this.#log.readFiles()
      const moment = toMoment(this.#time, this.#log.seq + 1)
      this.#transaction = new PosixTransaction(files, moment, this.#log.quota, this.#blobs)
    } catch (error) {
      this.#engineGroupCommit.commit(() => {})
      throw error
    }
    return this.#transaction
  }

  #isDue(): boolean {
    if (this.#appended >= MAX_OPERATIONS || this.#bytes >= MAX_BYTES) return true
    return performance.now() - this.#startedAt >= MAX_AGE_MS || this.#engineGroupCommit.isLockRequested
  }

  #toJournalRow(
    { operation, before }: TransactionOperation,
    seq: number,
  ): { vault: number; seq: number; bytes: Uint8Array } {
    const entry = { time: this.#time, ...this.#by, operation, ...(before !== null && { before }) }
    return { vault: this.#log.head.id, seq, bytes: encodeJournalEntry(entry) }
  }

  /** A row may stand for hundreds of operations, so rows alone do not tell how long the journal is. */
  #flushIfLong(operations: number): void {
    this.#unflushedOperations += operations
    if (this.#unflushedOperations < FLUSH_AFTER_OPERATIONS) return
    this.#unflushedOperations = 0
    try {
      this.#log.flushPages()
    } catch {
      // Everything is committed, in the journal: the next one is as good.
    }
  }
}
