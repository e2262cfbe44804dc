import { isVfsError } from '../../vfs/index.ts'
import { commitOnce, isRowStored } from '../commit-once.ts'
import type { MaybePromise, RecordRow } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import { listOperationBlobs } from '../files/operation-blobs.ts'
import { chain } from '../maybe-promise.ts'
import { PageFault } from '../tree/node-cache.ts'
import { type BlobStore, toBatchBlobs } from '../vault/blob-store.ts'
import type { CommitGate } from '../vault/commit-gate.ts'
import type { FollowedReplica } from '../vault/followed-replica.ts'
import { createLeasedError, decodeLease, leaseKey } from '../vault/lease-record.ts'
import {
  createJournalBatch,
  type ExtraRecords,
  type OperationRequest,
  type PendingOperation,
} from '../vault/pending-operation.ts'
import { type Replica, toMoment } from '../vault/replica.ts'
import { getVaultName } from '../vault/vault-head.ts'

/** Most operations include and require nothing else: they share one object. */
const NO_RECORDS: ReturnType<ExtraRecords> = Object.freeze({})

/** Number of operations that one commit of a local engine waits for. */
const MAX_PENDING = 1024
/** Number of operations that a commit of a remote engine waits for: later ones are planned while the engine works. */
const MAX_PENDING_REMOTE = 32
/** Time of a commit up to which a second one costs less than it saves. On a slow network, one for all is quicker. */
const MAX_OVERLAPPED_MS = 5

/** Number of refusals in a row after which a writer waits for its turn. */
const REFUSALS_BEFORE_TURN = 2
/** Never the number of a row. */
const UNKNOWN = -1

export interface CommitQueueContext {
  readonly reader: EngineReader
  /** Key of the vault's head. */
  readonly key: string
  readonly blobs: BlobStore
}

/**
 * Operations of a vault that are applied to the tree in memory and wait for their commit. One commit appends all of
 * them to the journal. If another process committed first, the queue catches up and plans every operation again.
 */
export class CommitQueue {
  readonly #context: CommitQueueContext
  readonly #followed: FollowedReplica
  readonly #replica: Replica
  readonly #gate: CommitGate
  #pending: PendingOperation[] = []
  #inFlight: readonly PendingOperation[] = []
  #isReplanning = false
  /** Number of times in a row that the engine refused the last commit. */
  #refusals = 0
  /** Time that the engine took for the last commit. */
  #commitMs = Number.POSITIVE_INFINITY
  #turn: AsyncDisposable | undefined
  /** Lease under which this process changes the vault; null if nobody may have one. */
  #lease: Uint8Array | null = null
  /**
   * Row up to which the lease is known to be as above. Taking a lease appends a row, so a commit right after this row need
   * not compare the lease again.
   */
  #leaseSeq = UNKNOWN

  constructor(context: CommitQueueContext, followed: FollowedReplica, gate: CommitGate) {
    this.#context = context
    this.#followed = followed
    this.#replica = followed.replica
    this.#gate = gate
  }

  get hasPending(): boolean {
    return this.#pending.length > 0
  }

  /**
   * True if so many operations wait that their commit need not wait for others. On a local engine, what they leave in
   * memory would outlive a collection of young garbage.
   */
  get isFull(): boolean {
    const { length } = this.#pending
    if (!this.#context.reader.isRemote) return length >= MAX_PENDING
    const isQuick = this.#commitMs <= MAX_OVERLAPPED_MS
    return length >= MAX_PENDING_REMOTE && isQuick && this.#gate.inProgress === undefined
  }

  /** Makes commits expect this lease of the vault, or that there is none. */
  setLease(lease: Uint8Array | null): void {
    this.#lease = lease
    this.#leaseSeq = UNKNOWN
  }

  get isIdle(): boolean {
    return this.#gate.inProgress === undefined && !this.hasPending
  }

  /**
   * Applies a request and adds it to the queue; a request without an operation resolves at once.
   * @param commit commits the queue: at the end of this turn, or earlier for a request that cannot be applied.
   */
  enqueue(request: OperationRequest, commit: () => MaybePromise<void>): void {
    const { inProgress } = this.#gate
    const isUnsettled = this.#isReplanning || this.#replica.isStale
    if (isUnsettled && inProgress !== undefined) throw new PageFault(inProgress)
    // Without a first refresh, neither the quota nor a deletion of the vault is known.
    if (!this.#followed.isKnown && this.isIdle) this.#followed.refresh()
    const pending = this.#plan(request, commit)
    if (pending === null) {
      request.resolve()
      return
    }
    this.#pending.push(pending)
    if (this.#pending.length === 1) queueMicrotask(commit)
  }

  /** Commits the queue. Operations that arrive meanwhile are committed by their own callers. */
  drain(): MaybePromise<void> {
    const { inProgress } = this.#gate
    if (inProgress !== undefined) return inProgress.then(() => this.drain())
    if (!this.hasPending) return
    return chain(this.#commit(this.#pending), () => {
      if (this.#refusals > 0 && this.hasPending) return this.drain()
      this.#endTurn()
    })
  }

  /**
   * Rolls back to the committed state, catches up and plans everything that waits again. If that fails, rejects it all.
   */
  replan(waiting: readonly PendingOperation[] = []): MaybePromise<void> {
    this.#isReplanning = true
    const all = [...waiting, ...this.#pending]
    const giveUp = (error: unknown) => {
      this.#isReplanning = false
      this.#pending = []
      this.#followed.reload()
      for (const { request } of all) request.reject(error)
    }
    try {
      const replanned = this.#context.reader.run(() => this.#reapplyAll(all))
      return replanned instanceof Promise ? replanned.catch(giveUp) : replanned
    } catch (error) {
      return giveUp(error)
    }
  }

  /**
   * Plans and applies a request on the files as known here. If others have committed meanwhile, the engine refuses the
   * commit and the queue plans again. An operation that is refused never gets there, so it is planned again on the
   * current files.
   */
  #plan(request: OperationRequest, commit: () => MaybePromise<void>): PendingOperation | null {
    try {
      const pending = this.#apply(request)
      if (pending !== null) return pending
    } catch (error) {
      if (error instanceof PageFault) throw error
    }
    const committed = commit()
    if (committed instanceof Promise) throw new PageFault(committed)
    if (this.isIdle) this.#followed.refresh()
    return this.#apply(request)
  }

  /** Applies a request to the replica; null if it has no operation. */
  #apply(request: OperationRequest): PendingOperation | null {
    const { plan, prepare, provenance, extraRecords, time = Date.now(), outcome } = request
    const seq = this.#replica.seq + this.#inFlight.length + this.#pending.length + 1
    const waiting = () => [...this.#inFlight, ...this.#pending].map(({ entry }) => entry)
    // Before anything changes: this may throw.
    const extra = extraRecords?.() ?? NO_RECORDS
    const prepared = outcome?.seq === seq ? outcome : prepare?.(this.#replica.files, toMoment(time, seq))
    const applied =
      prepared === undefined
        ? this.#replica.applyPlan(plan, provenance, time, seq, waiting)
        : prepared && this.#replica.applyPrepared(prepared, provenance, time)
    if (applied === null) return null
    return { request, entry: applied.entry, frees: applied.frees, extra }
  }

  /** Commits operations in one batch. Resolves or rejects each, or plans them again if the engine refuses. */
  #commit(waiting: readonly PendingOperation[]): MaybePromise<void> {
    const { reader, blobs } = this.#context
    const snapshot = this.#replica.takeSnapshot()
    const staged = blobs.takeStagedFor(waiting.flatMap(({ entry }) => listOperationBlobs(entry.operation)))
    const changesLease = waiting.some((each) => this.#changesLease(each))
    this.#pending = []
    this.#inFlight = waiting
    const startedAt = performance.now()
    let accepted: readonly PendingOperation[] = []
    const settle = (isAccepted: boolean) => {
      this.#inFlight = []
      this.#commitMs = performance.now() - startedAt
      this.#refusals = isAccepted ? 0 : this.#refusals + 1
      this.#leaseSeq = UNKNOWN
      if (!isAccepted) {
        blobs.restage(staged)
        // Callers whose operation is refused for good may read before this is over.
        this.#followed.invalidate()
        return chain(this.#takeTurn(), () => this.replan(waiting))
      }
      blobs.markStored(staged)
      this.#replica.markCommitted(waiting.length, snapshot)
      if (!changesLease) this.#leaseSeq = this.#replica.seq
      accepted = waiting
    }
    const fail = (error: unknown) => {
      this.#inFlight = []
      this.#leaseSeq = UNKNOWN
      blobs.restage(staged)
      this.#followed.invalidate()
      if (isVfsError(error, 'EUNKNOWN')) this.#replica.resetToStored()
      for (const { request } of waiting) request.reject(error)
      // None of it is known to be stored: the tree rolls back, and later operations are planned again.
      return this.replan()
    }
    const rows = createJournalBatch(
      waiting,
      this.#replica.head.id,
      this.#replica.seq,
      toBatchBlobs(staged, this.#refusals > 0),
    )
    const lease = changesLease ? undefined : this.#expectLease()
    const batch = lease === undefined ? rows : { ...rows, expect: [...(rows.expect ?? []), lease] }
    const isStored = () => batch.journal.slice(0, 1).every((row) => isRowStored(reader, row))
    // After the next commit may begin: what the callers do now need not end before that.
    const acknowledge = () => {
      for (const { request } of accepted) request.resolve()
      if (accepted.length > 0) this.#followed.notify()
    }
    return chain(
      this.#gate.run(() => commitOnce(reader, batch, isStored), settle, fail),
      acknowledge,
    )
  }

  /** Expects the lease of the vault as it is known, unless no row of others came since. Local vaults have none. */
  #expectLease(): RecordRow | undefined {
    if (this.#context.reader.engine.isSync || this.#leaseSeq === this.#replica.seq) return undefined
    return { key: leaseKey(this.#replica.head.id), bytes: this.#lease }
  }

  /**
   * After some refusals in a row, waits until this process may commit next: others that have less to read would win
   * again and again.
   */
  #takeTurn(): MaybePromise<void> {
    this.#endTurn()
    const { engine } = this.#context.reader
    if (this.#refusals < REFUSALS_BEFORE_TURN || engine.takeTurn === undefined) return
    const note = (turn?: AsyncDisposable) => {
      this.#turn = turn
    }
    // Without a turn, the next attempt is as good as the last one.
    return engine.takeTurn(this.#replica.head.id).then(note, () => note())
  }

  #endTurn(): void {
    void this.#turn?.[Symbol.asyncDispose]()
    this.#turn = undefined
  }

  #changesLease({ extra }: PendingOperation): boolean {
    return extra.records?.some(({ key }) => key === leaseKey(this.#replica.head.id)) === true
  }

  /** Throws EUNAVAILABLE if another machine has leased the vault. */
  #assertNotLeased(operation: PendingOperation): void {
    const { reader, key } = this.#context
    if (reader.engine.isSync || this.#changesLease(operation)) return
    const found = reader.readRecord(leaseKey(this.#replica.head.id))
    if (found === undefined || (this.#lease !== null && Buffer.compare(found, this.#lease) === 0)) return
    throw createLeasedError(decodeLease(found), getVaultName(key))
  }

  #reapplyAll(all: readonly PendingOperation[]): void {
    this.#pending = []
    this.#replica.rollBack()
    this.#replica.catchUp()
    for (const operation of all) {
      // A prepared outcome is only valid for the first attempt.
      const request = { ...operation.request, outcome: undefined }
      try {
        this.#assertNotLeased(operation)
        const again = this.#apply(request)
        if (again === null) request.resolve()
        else this.#pending.push(again)
      } catch (error) {
        if (error instanceof PageFault) throw error
        request.reject(error)
      }
    }
    this.#isReplanning = false
  }
}
