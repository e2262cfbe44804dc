import type { MaybePromise } from '../engine.ts'
import { createNotLocalError } from '../engine-reader.ts'
import type { Provenance } from '../files/operation.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import { CommitQueue, type CommitQueueContext } from '../group-commit/commit-queue.ts'
import { chain } from '../maybe-promise.ts'
import { PageFault } from '../tree/node-cache.ts'
import { CommitGate } from './commit-gate.ts'
import { FollowedReplica } from './followed-replica.ts'
import { Journal } from './journal.ts'
import type { OpenInodes } from './open-inodes.ts'
import type { PageFlushContext, PageFlushOptions } from './page-flush.ts'
import { PageFlusher } from './page-flusher.ts'
import type { ExtraRecords, OperationRequest } from './pending-operation.ts'
import { type OperationPlan, type OperationPreparation, type PreparedOperation, Replica } from './replica.ts'
import type { VaultHead } from './vault-head.ts'
import type { VaultQuota } from './vault-quota.ts'

export interface VaultLogContext extends PageFlushContext, CommitQueueContext {}

/**
 * The only way to change a vault. An operation is applied to the tree in memory (`replica.ts`), appended to the journal
 * together with others (`commit-queue.ts`) and acknowledged. Pages follow later, in batches (`page-flusher.ts`).
 */
export class VaultLog {
  readonly #context: VaultLogContext
  readonly #replica: Replica
  readonly #followed: FollowedReplica
  readonly #gate = new CommitGate()
  readonly #queue: CommitQueue
  readonly #flusher: PageFlusher
  readonly #commitPending = (): MaybePromise<void> => this.commitPending()

  constructor(context: VaultLogContext, head: VaultHead) {
    this.#context = context
    this.#replica = new Replica(context.cache, context.reader, context.key, head)
    this.#followed = new FollowedReplica(this.#replica, context.reader)
    this.#queue = new CommitQueue(context, this.#followed, this.#gate)
    this.#flusher = new PageFlusher(context, this.#followed, this.#queue, this.#gate)
  }

  get head(): VaultHead {
    return this.#replica.head
  }

  /** Last committed journal row that this process knows. */
  get seq(): number {
    return this.#replica.seq
  }

  /** Makes commits of this process expect this lease of the vault, or that there is none. */
  setLease(lease: Uint8Array | null): void {
    this.#queue.setLease(lease)
  }

  get journal(): Journal {
    return new Journal(this.#context.reader, this.head)
  }

  /** Inodes that this process has open. Only on a local engine. */
  get openInodes(): OpenInodes {
    return this.#replica.openInodes
  }

  get quota(): VaultQuota {
    this.readFiles()
    return this.#replica.quota
  }

  /** Returns the committed files, also of other processes. They change with the vault: fork the tree to keep them. */
  readFiles(): VaultFiles {
    if (this.#queue.hasPending && this.#gate.inProgress === undefined) this.commitPending()
    const { inProgress } = this.#gate
    if (inProgress !== undefined) {
      // After a commit that failed or was refused, others may have changed what is known here.
      if (this.#replica.isStale || !this.#followed.isKnown) throw new PageFault(inProgress)
      return this.#replica.getCommittedFiles()
    }
    this.refresh()
    return this.#replica.files
  }

  /** Returns the files as this process last knew them, without a read of the store. */
  getLastKnownFiles(): VaultFiles {
    return this.#replica.getLastKnownFiles()
  }

  /** Catches up with other processes, unless operations of this one wait. Throws ENOENT if one deleted the vault. */
  refresh(): void {
    if (this.#queue.isIdle) this.#followed.refresh()
  }

  /** Makes the next refresh read the store. */
  invalidate(): void {
    this.#followed.invalidate()
  }

  /** Goes back to the stored tree: operations that count as committed may be stored otherwise, or not at all. */
  reload(): void {
    this.#followed.reload()
  }

  /** Calls a listener after each commit of this process, and after each refresh with news. Returns its removal. */
  subscribe(listener: () => void): () => void {
    return this.#followed.subscribe(listener)
  }

  /** Applies the planned operation; resolves when it is committed, rejects if it is refused. */
  submit(plan: OperationPlan, provenance: Provenance = {}, extraRecords?: ExtraRecords): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = { plan, provenance, extraRecords, resolve, reject }
      try {
        const accepted = this.#context.reader.run(() => this.#enqueue(request))
        if (accepted instanceof Promise) accepted.catch(reject)
        else if (this.#queue.isFull) this.commitPending()
      } catch (error) {
        reject(error)
      }
    })
  }

  /** Does what `submit` does, but has committed when it returns. Needs a local engine. */
  submitSync(plan: OperationPlan, provenance: Provenance = {}): void {
    this.#submitRequestSync({ plan, provenance })
  }

  /** Does what `submitSync` does, for an operation that is prepared on a fork of the files. */
  prepareSync(prepare: OperationPreparation, provenance: Provenance): void {
    const plan = () => null
    this.#submitRequestSync({ plan, prepare, provenance })
  }

  /** Does what `submitSync` does, for an operation that was prepared on a fork of these files under the write lock. */
  submitPreparedSync(outcome: PreparedOperation, provenance: Provenance, time: number): void {
    this.#submitRequestSync({ plan: () => outcome.operation, provenance, time, outcome })
  }

  /** Commits everything that waits, and flushes pages when the journal has grown long. */
  commitPending(): MaybePromise<void> {
    return chain(this.#queue.drain(), () => {
      if (this.#flusher.isDue) return chain(this.#flusher.tryFlush(), () => {})
    })
  }

  /** Commits everything that waits, and flushes pages; false if the flush failed. */
  commitAndFlush(): MaybePromise<boolean> {
    return chain(this.commitPending(), () => this.#flusher.tryFlush())
  }

  /** Stores the tree as pages under a new head: an open, a fork and a checkpoint start there. Returns the root. */
  flushPages(options: PageFlushOptions = {}): MaybePromise<number> {
    return this.#flusher.flush(options)
  }

  /**
   * Stores the tree to read it while the vault changes. Returns the root. On a full disk it may use the reserve, so that
   * files can be copied to another disk.
   */
  flushForReading(): MaybePromise<number> {
    return this.#flusher.flush({ frees: true })
  }

  /**
   * Makes everything committed survive power loss, with a flush if that succeeds. Throws EUNKNOWN if the sync fails.
   */
  sync(): Promise<void> {
    return this.#flusher.sync()
  }

  #submitRequestSync(request: Omit<OperationRequest, 'extraRecords' | 'resolve' | 'reject'>): void {
    const failures: unknown[] = []
    const reject = (error: unknown) => failures.push(error)
    this.#enqueue({ ...request, extraRecords: undefined, resolve: () => {}, reject })
    if (this.commitPending() instanceof Promise) throw createNotLocalError(this.#context.reader.engine)
    if (failures.length > 0) throw failures[0]
  }

  #enqueue(request: OperationRequest): void {
    const { inProgress } = this.#flusher
    if (inProgress !== undefined) throw new PageFault(inProgress)
    this.#queue.enqueue(request, this.#commitPending)
  }
}
