import type { Gathering } from '../engine.ts'
import type { Files } from '../files/files.ts'
import type { Provenance } from '../files/operation.ts'
import { blobsIn } from '../files/operation-blobs.ts'
import type { Blobs } from '../vault/blobs.ts'
import { encodeEntry } from '../vault/journal.ts'
import { momentOf } from '../vault/replica.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import { Draft, type DraftedOperation } from './draft.ts'

/** What one commit takes at most. All of it has the time it began at: no later than a disk's clock would tell. */
const MOST_OPERATIONS = 512
const MOST_BYTES = 4 * 1024 * 1024
const OLDEST_MS = 4
/** A longer journal of operations is folded into pages: what an open has to replay. */
const FOLD_AFTER = 8000

/**
 * Changes that are answered one by one and committed together. Each is kept by the engine before it is answered, so
 * a killed process loses none; nobody else can commit meanwhile, so none is ever refused after it was answered.
 * Others see them when they are settled: after some milliseconds, or at once where others wait to write.
 */
export class GatheredChanges {
  readonly #log: VaultLog
  readonly #blobs: Blobs
  readonly #by: Provenance
  readonly #gathering: Gathering
  #draft: Draft | undefined
  #began = 0
  #time = 0
  #kept = 0
  /** Since the first draft: what was kept last is never taken for what was kept before it. */
  #keptInAll = 0
  #bytes = 0
  #unfolded = 0

  constructor(log: VaultLog, blobs: Blobs, by: Provenance, gathering: Gathering) {
    this.#log = log
    this.#blobs = blobs
    this.#by = by
    this.#gathering = gathering
  }

  /** The files with what others do not see yet; undefined if there is nothing of that kind. */
  get files(): Files | undefined {
    return this.#draft?.files
  }

  /**
   * Another number after each change, 0 if there is nothing to settle. Something also if every change was refused: the
   * store is held all the same.
   */
  get waiting(): number {
    return this.#draft === undefined ? 0 : this.#keptInAll + 1
  }

  /** What to add the next change to; undefined if others write too, and it has to be committed by itself. */
  open(): Draft | undefined {
    if (this.#draft !== undefined && this.#isDue()) this.settle()
    return this.#draft ?? this.#begin()
  }

  /** Keeps what was added, so that it can be answered. */
  keep(): void {
    const draft = this.#draft
    if (draft === undefined) return
    const news = draft.takeNews()
    if (news.length === 0) return
    const blobs = news
      .flatMap(({ operation }) => blobsIn(operation))
      .flatMap(({ blob }) => this.#blobs.staged(blob) ?? [])
    const first = this.#log.seq + 1 + this.#kept
    const journal = news.map((one, index) => this.#rowOf(one, first + index))
    this.#kept += news.length
    this.#keptInAll += news.length
    this.#bytes += blobs.reduce((sum, { bytes }) => sum + bytes.length, 0)
    try {
      this.#gathering.keep({ blobs, journal })
    } catch {
      // No room for it beside the store: then it goes into the store itself.
      this.settle()
    }
  }

  /** Commits everything: others see it when this returns. */
  settle(): void {
    const draft = this.#draft
    if (draft === undefined) return
    this.#draft = undefined
    try {
      this.#gathering.settle(() => {
        const outcome = draft.finish()
        if (outcome !== null) this.#log.adoptNow(outcome, this.#by, this.#time)
      })
    } catch (error) {
      // It may be committed all the same, one by one from what was kept.
      this.#log.reload()
      throw error
    }
    this.#foldIfLong(draft.size)
  }

  #begin(): Draft | undefined {
    if (!this.#gathering.hold()) return undefined
    this.#began = performance.now()
    this.#time = Date.now()
    this.#kept = 0
    this.#bytes = 0
    try {
      const files = this.#log.read()
      const moment = momentOf(this.#time, this.#log.seq + 1)
      this.#draft = new Draft(files, moment, this.#log.quota, this.#blobs)
    } catch (error) {
      this.#gathering.settle(() => {})
      throw error
    }
    return this.#draft
  }

  #isDue(): boolean {
    if (this.#kept >= MOST_OPERATIONS || this.#bytes >= MOST_BYTES) return true
    return performance.now() - this.#began >= OLDEST_MS || this.#gathering.isWanted
  }

  #rowOf(
    { operation, before }: DraftedOperation,
    seq: number,
  ): { vault: number; seq: number; bytes: Uint8Array } {
    const entry = { time: this.#time, ...this.#by, operation, ...(before !== null && { before }) }
    return { vault: this.#log.head.id, seq, bytes: encodeEntry(entry) }
  }

  /** A row may stand for hundreds of operations, so rows alone do not tell how long the journal is. */
  #foldIfLong(operations: number): void {
    this.#unfolded += operations
    if (this.#unfolded < FOLD_AFTER) return
    this.#unfolded = 0
    try {
      this.#log.fold()
    } catch {
      // Everything is committed, in the journal: the next one is as good.
    }
  }
}
