import { createNotLocalError } from '../engine-reader.ts'
import type { FileOperation, Provenance } from '../files/operation.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import type { BlobStore } from '../vault/blob-store.ts'
import { type OperationPlan, toMoment } from '../vault/replica.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import type { VaultQuota } from '../vault/vault-quota.ts'
import { PosixGroupCommit } from './posix-group-commit.ts'
import { PosixTransaction } from './posix-transaction.ts'

/** What changes together with the vault in a batch, and goes back when the batch does. */
export interface BatchState {
  begin(): void
  rollback(): void
  commit(): void
}

/**
 * The one way calls change a vault: each committed when it returns, or many together at the end of a batch, or some
 * milliseconds later with others where they are gathered.
 */
export class PosixCommitter {
  readonly #log: VaultLog
  readonly #blobs: BlobStore
  readonly #by: Provenance
  readonly #groupCommit: PosixGroupCommit | undefined
  #transaction: PosixTransaction | undefined
  #mustSync = false

  constructor(log: VaultLog, blobs: BlobStore, by: Provenance, gathers: boolean) {
    this.#log = log
    this.#blobs = blobs
    this.#by = by
    const { groupCommit } = blobs.reader.engine
    if (gathers && groupCommit !== undefined)
      this.#groupCommit = new PosixGroupCommit(log, blobs, by, groupCommit)
  }

  /** Whether changes are gathered where they can be. */
  get usesGroupCommit(): boolean {
    return this.#groupCommit !== undefined
  }

  /** Another number after each change, 0 if there is nothing to settle. */
  get pendingVersion(): number {
    return this.#groupCommit?.pendingVersion ?? 0
  }

  /** Lets others see everything that was done. */
  commit(): void {
    this.#groupCommit?.commit()
  }

  /** The files with everything that was done, also inside a batch. */
  get files(): VaultFiles {
    return this.#transaction?.files ?? this.#groupCommit?.files ?? this.#log.readFiles()
  }

  get quota(): VaultQuota {
    return this.#transaction?.quota ?? this.#log.quota
  }

  apply(plan: OperationPlan): void {
    const draft = this.#transaction ?? this.#groupCommit?.begin()
    if (draft === undefined) {
      this.#log.submitSync(plan, this.#by)
      return
    }
    const operation = plan(draft.files)
    if (operation !== null) draft.apply(operation)
    if (this.#transaction === undefined) this.#groupCommit?.append()
  }

  /** Done whole or not at all; tried again from its beginning if that fails or somebody else commits first. */
  runBatch(work: () => void, state: BatchState): void {
    if (this.#transaction !== undefined) {
      work()
      return
    }
    const gathered = this.#groupCommit?.begin()
    if (gathered === undefined) this.#commitBatch(work, state)
    else this.#appendBatch(gathered, work, state)
    if (this.#mustSync) this.sync()
  }

  #appendBatch(draft: PosixTransaction, work: () => void, state: BatchState): void {
    this.#mustSync = false
    this.#transaction = draft
    state.begin()
    try {
      draft.runAtomically(work)
    } catch (error) {
      state.rollback()
      throw error
    } finally {
      this.#transaction = undefined
    }
    state.commit()
    this.#groupCommit?.append()
  }

  #commitBatch(work: () => void, state: BatchState): void {
    const { quota } = this
    let tries = 0
    try {
      this.#log.submitSync((files) => {
        if (tries++ > 0) state.rollback()
        state.begin()
        this.#mustSync = false
        return this.#prepareBatch(files, quota, work)
      }, this.#by)
    } catch (error) {
      state.rollback()
      throw error
    }
    state.commit()
  }

  /** Everything done so far survives power loss when it returns; inside a batch, when that does. */
  sync(): void {
    this.#mustSync = this.#transaction !== undefined
    if (this.#mustSync) return
    this.commit()
    this.#log.readFiles()
    const { engine } = this.#blobs.reader
    if (engine.sync() instanceof Promise) throw createNotLocalError(engine)
  }

  #prepareBatch(files: VaultFiles, quota: VaultQuota, work: () => void): FileOperation | null {
    const draft = new PosixTransaction(files, toMoment(Date.now(), this.#log.seq + 1), quota, this.#blobs)
    this.#transaction = draft
    try {
      work()
    } finally {
      this.#transaction = undefined
    }
    return draft.prepare()?.operation ?? null
  }
}
