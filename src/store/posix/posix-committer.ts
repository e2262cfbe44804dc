import { createNotLocalError } from '../engine-reader.ts'
import type { Provenance } from '../files/operation.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import { VaultGroupCommit } from '../group-commit/vault-group-commit.ts'
import { VaultTransaction } from '../group-commit/vault-transaction.ts'
import type { BlobStore } from '../vault/blob-store.ts'
import type { OperationPlan, PreparedOperation } from '../vault/replica.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import type { VaultQuota } from '../vault/vault-quota.ts'

/** In-memory state that changes with the vault in a batch and is rolled back with it. */
export interface BatchState {
  begin(): void
  rollback(): void
  commit(): void
}

export interface PosixCommitterOptions {
  readonly usesGroupCommit: boolean
  /** Called after each sync. */
  readonly onSync: (() => void) | undefined
}

/**
 * Commits the operations of POSIX calls: each before its call returns, all of a batch at its end, or some milliseconds
 * later in a group commit.
 */
export class PosixCommitter {
  readonly #log: VaultLog
  readonly #blobs: BlobStore
  readonly #provenance: Provenance
  readonly #groupCommit: VaultGroupCommit | undefined
  #transaction: VaultTransaction | undefined
  readonly #onSync: (() => void) | undefined
  #syncAfterBatch = false

  constructor(
    log: VaultLog,
    blobs: BlobStore,
    provenance: Provenance,
    { usesGroupCommit, onSync }: PosixCommitterOptions,
  ) {
    this.#log = log
    this.#blobs = blobs
    this.#provenance = provenance
    this.#onSync = onSync
    const { groupCommit } = blobs.reader.engine
    if (usesGroupCommit && groupCommit !== undefined)
      this.#groupCommit = new VaultGroupCommit(log, blobs, provenance, groupCommit)
  }

  /** True if operations wait for a group commit. False also if it was requested and the engine has none. */
  get usesGroupCommit(): boolean {
    return this.#groupCommit !== undefined
  }

  /** A number that changes with each operation; 0 if nothing waits for a commit. */
  get pendingVersion(): number {
    return this.#groupCommit?.pendingVersion ?? 0
  }

  /** Commits the open group, so that others see it. */
  commit(): void {
    this.#groupCommit?.commit()
  }

  /** The files with every applied operation, including those of an open batch or group. */
  get files(): VaultFiles {
    return this.#transaction?.files ?? this.#groupCommit?.files ?? this.#log.readFiles()
  }

  get quota(): VaultQuota {
    return this.#transaction?.quota ?? this.#log.quota
  }

  /**
   * Plans an operation on the current files and applies it; a plan that returns null changes nothing. In a batch or
   * group, later calls see it at once and it is committed with the others; otherwise it is committed before this
   * returns.
   */
  apply(plan: OperationPlan): void {
    const transaction = this.#transaction ?? this.#groupCommit?.begin()
    if (transaction === undefined) {
      this.#log.submitSync(plan, this.#provenance)
      return
    }
    const operation = plan(transaction.files)
    if (operation !== null) transaction.apply(operation)
    if (this.#transaction === undefined) this.#groupCommit?.append()
  }

  /**
   * Commits all operations of `work` or none. Runs `work` again if another process commits first. A batch inside a
   * batch becomes a part of it: the outer one commits or rolls back both.
   */
  runBatch(work: () => void, state: BatchState): void {
    if (this.#transaction !== undefined) {
      work()
      return
    }
    const transaction = this.#groupCommit?.begin()
    if (transaction === undefined) this.#commitBatch(work, state)
    else this.#appendBatch(transaction, work, state)
    if (this.#syncAfterBatch) this.sync()
  }

  #appendBatch(transaction: VaultTransaction, work: () => void, state: BatchState): void {
    this.#syncAfterBatch = false
    this.#transaction = transaction
    state.begin()
    try {
      transaction.runAtomically(work)
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
    let hasBegun = false
    try {
      this.#log.prepareSync((files, moment) => {
        // The log prepares it again if another process committed first: undo the previous attempt.
        if (hasBegun) state.rollback()
        hasBegun = true
        state.begin()
        this.#syncAfterBatch = false
        return this.#prepareBatch(new VaultTransaction(files, moment, quota, this.#blobs), work)
      }, this.#provenance)
    } catch (error) {
      state.rollback()
      throw error
    }
    state.commit()
  }

  /** Makes everything so far survive power loss; inside a batch, at the end of the batch. */
  sync(): void {
    this.#syncAfterBatch = this.#transaction !== undefined
    if (this.#syncAfterBatch) return
    this.commit()
    this.#log.readFiles()
    const { engine } = this.#blobs.reader
    if (engine.sync() instanceof Promise) throw createNotLocalError(engine)
    this.#onSync?.()
  }

  #prepareBatch(transaction: VaultTransaction, work: () => void): PreparedOperation | null {
    this.#transaction = transaction
    try {
      work()
    } finally {
      this.#transaction = undefined
    }
    return transaction.prepare()
  }
}
