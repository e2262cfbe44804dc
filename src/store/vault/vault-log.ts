import { isVfsError, VfsError } from '../../vfs/index.ts'
import { commitOnce, createUnknownOutcomeError, isRowStored } from '../commit-once.ts'
import type { MaybePromise } from '../engine.ts'
import { chain, type EngineReader } from '../engine-reader.ts'
import type { Provenance } from '../files/operation.ts'
import { listOperationBlobs } from '../files/operation-blobs.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import { PageFault } from '../tree/node-cache.ts'
import { type BlobStore, toBatchBlobs } from './blob-store.ts'
import { Journal } from './journal.ts'
import type { OpenInodes } from './open-inodes.ts'
import { PageFlush, type PageFlushContext, type PageFlushOptions } from './page-flush.ts'
import {
  createJournalBatch,
  type ExtraRecords,
  type OperationRequest,
  type PendingOperation,
} from './pending-operation.ts'
import { type OperationPlan, type PreparedOperation, Replica } from './replica.ts'
import type { VaultHead } from './vault-head.ts'
import type { VaultQuota } from './vault-quota.ts'

/** How many operations may wait in the journal before they are folded into pages: what an open has to replay. */
const FLUSH_AFTER_ROWS = 2000
/** How many more before a fold that failed is tried again: on a full disk, each try costs as much as it would with room. */
const RETRY_FLUSH_AFTER_ROWS = 200

export interface VaultLogContext extends PageFlushContext {
  readonly reader: EngineReader
  readonly blobs: BlobStore
}

/**
 * The one way a vault changes. An operation is applied to the tree in memory, appended to the journal together with
 * all others of the same moment, and acknowledged when that is committed; pages follow later, in batches.
 * Whoever loses a race takes in what the winner did and decides again.
 */
export class VaultLog {
  readonly #context: VaultLogContext
  readonly #replica: Replica
  #pending: PendingOperation[] = []
  #inFlight: readonly PendingOperation[] = []
  /** A commit or fold that a remote engine has not answered yet. */
  #commitInProgress: Promise<void> | undefined
  /** The one fold that a remote engine lets wait. Nothing new is accepted until it is done, so it always gets its turn. */
  #flushInProgress: Promise<void> | undefined
  /** The last row of the journal when a fold failed. */
  #failedFlushSeq = Number.NEGATIVE_INFINITY
  #isReplanning = false
  #wasRefused = false
  #seenChangeCount = -1
  readonly #listeners = new Set<() => void>()

  constructor(parts: VaultLogContext, head: VaultHead) {
    this.#context = parts
    this.#replica = new Replica(parts.cache, parts.reader, parts.key, head)
  }

  get head(): VaultHead {
    return this.#replica.head
  }

  /** The last journal row that is committed, as far as this process knows. */
  get seq(): number {
    return this.#replica.seq
  }

  get journal(): Journal {
    return new Journal(this.#context.reader, this.head)
  }

  /** What this process has open of it. Only on a local engine. */
  get openInodes(): OpenInodes {
    return this.#replica.openInodes
  }

  get quota(): VaultQuota {
    this.readFiles()
    return this.#replica.quota
  }

  /** The files as they are committed, by whichever process. They change with the vault: fork the tree to keep them. */
  readFiles(): VaultFiles {
    if (this.#pending.length > 0 && this.#commitInProgress === undefined) this.commitPending()
    if (this.#commitInProgress !== undefined) {
      if (this.#replica.isStale) throw new PageFault(this.#commitInProgress)
      return this.#replica.getCommittedFiles()
    }
    this.refresh()
    return this.#replica.files
  }

  /** The files as this process knows them, without asking anybody. */
  getLastKnownFiles(): VaultFiles {
    return this.#replica.getLastKnownFiles()
  }

  /** Takes in what other processes have committed. ENOENT if they have deleted the vault. */
  refresh(): void {
    if (!this.#isIdle()) return
    const changes = this.#context.reader.getChangeCount()
    if (changes === this.#seenChangeCount) return
    const isNews = this.#replica.catchUp()
    this.#seenChangeCount = changes
    if (isNews) this.#notifyListeners()
  }

  /** Forgets what it knows of the vault, so that the next look is at the store. */
  invalidate(): void {
    this.#seenChangeCount = -1
  }

  /** Goes back to what is stored: something that was taken for committed may not be, or in another form. */
  reload(): void {
    this.#seenChangeCount = -1
    this.#replica.resetToStored()
  }

  /** Calls back after each commit this process makes or takes in, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Does what the plan decides; resolves when it is committed, rejects when it cannot be done. */
  submit(plan: OperationPlan, by: Provenance = {}, extraRecords?: ExtraRecords): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = { plan, by, extraRecords, resolve, reject }
      try {
        const accepted = this.#context.reader.run(() => this.#enqueue(request))
        if (accepted instanceof Promise) accepted.catch(reject)
      } catch (error) {
        reject(error)
      }
    })
  }

  /** The same, done when it returns. Only on a local engine. */
  submitSync(plan: OperationPlan, by: Provenance = {}): void {
    this.#submitRequestSync({ plan, by })
  }

  /** The same for what was drafted on a fork of these files while nobody else could commit. */
  submitPreparedSync(outcome: PreparedOperation, by: Provenance, time: number): void {
    this.#submitRequestSync({ plan: () => outcome.operation, by, time, outcome })
  }

  #submitRequestSync(what: Omit<OperationRequest, 'extraRecords' | 'resolve' | 'reject'>): void {
    const failures: unknown[] = []
    const reject = (error: unknown) => failures.push(error)
    this.#enqueue({ ...what, extraRecords: undefined, resolve: () => {}, reject })
    if (this.commitPending() instanceof Promise) {
      const detail = `the engine '${this.#context.reader.engine.name}' is not local`
      throw new VfsError('ENOTSUP', '/', { detail })
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Commits everything that waits, and folds when the journal has grown long. */
  commitPending(): MaybePromise<void> {
    return chain(this.#drainPending(), () => {
      if (this.#isFlushDue()) return chain(this.#tryFlush(), () => {})
    })
  }

  /** Commits everything that waits, and folds; false if that failed, so that it stays in the journal. */
  commitAndFlush(): MaybePromise<boolean> {
    return chain(this.commitPending(), () => this.#tryFlush())
  }

  /** Stores the tree as pages and notes it in the head: from here an open, a fork and a checkpoint can start. */
  flushPages(options: PageFlushOptions = {}): MaybePromise<number> {
    if (this.#flushInProgress !== undefined) return this.#flushInProgress.then(() => this.flushPages(options))
    const folded = this.#flushExclusively(options)
    if (!(folded instanceof Promise)) return folded
    const release = () => {
      this.#flushInProgress = undefined
    }
    this.#flushInProgress = folded.then(release, release)
    return folded
  }

  /** Makes everything that is committed survive power loss, and folds it if that can be done. EUNKNOWN. */
  async sync(): Promise<void> {
    try {
      await this.flushPages({ durable: true })
    } catch (failure) {
      // Everything is committed, in the journal: what failed is no failure of that.
      try {
        await this.#context.reader.engine.sync()
      } catch (cause) {
        throw createUnknownOutcomeError(failure, cause)
      }
    }
  }

  /** What comes meanwhile is committed by those who bring it: waiting for them, too, might never end. */
  #drainPending(): MaybePromise<void> {
    if (this.#commitInProgress !== undefined) return this.#commitInProgress.then(() => this.#drainPending())
    if (this.#pending.length === 0) return
    return chain(this.#commit(this.#pending), () => {
      if (this.#wasRefused && this.#pending.length > 0) return this.#drainPending()
    })
  }

  #isFlushDue(): boolean {
    if (this.#flushInProgress !== undefined || this.seq - this.head.seq < FLUSH_AFTER_ROWS) return false
    return this.seq - this.#failedFlushSeq >= RETRY_FLUSH_AFTER_ROWS
  }

  #flushExclusively(options: PageFlushOptions): MaybePromise<number> {
    if (!this.#isIdle()) return chain(this.#drainPending(), () => this.#flushExclusively(options))
    const fold = new PageFlush(this.#context, this.#replica, options)
    const ready = this.#context.reader.run(() => {
      this.refresh()
      fold.prepare()
    })
    return chain(ready, () => this.#commitFlush(fold, options))
  }

  #isIdle(): boolean {
    return this.#commitInProgress === undefined && this.#pending.length === 0
  }

  #enqueue(request: OperationRequest): void {
    if (this.#flushInProgress !== undefined) throw new PageFault(this.#flushInProgress)
    const isUnsettled = this.#isReplanning || this.#replica.isStale
    if (isUnsettled && this.#commitInProgress !== undefined) throw new PageFault(this.#commitInProgress)
    // Nothing is known of it yet, or no longer: not what its quota is, nor that it was deleted.
    if (this.#seenChangeCount === -1) this.refresh()
    const pending = this.#planRequest(request)
    if (pending === null) {
      request.resolve()
      return
    }
    this.#pending.push(pending)
    if (this.#pending.length === 1) queueMicrotask(() => this.commitPending())
  }

  /**
   * Decides on what is known. If others have committed meanwhile, the commit is refused and everything decided again;
   * only a refusal, which would never get there, has to be on what is true now.
   */
  #planRequest(request: OperationRequest): PendingOperation | null {
    try {
      const pending = this.#applyRequest(request)
      if (pending !== null) return pending
    } catch (error) {
      if (error instanceof PageFault) throw error
    }
    const flushed = this.commitPending()
    if (flushed instanceof Promise) throw new PageFault(flushed)
    this.refresh()
    return this.#applyRequest(request)
  }

  #applyRequest(request: OperationRequest): PendingOperation | null {
    const { plan, by, extraRecords, time = Date.now(), outcome } = request
    const seq = this.seq + this.#inFlight.length + this.#pending.length + 1
    const waiting = () => [...this.#inFlight, ...this.#pending].map(({ entry }) => entry)
    // Asked for before anything changes: if it cannot be had, nothing has.
    const also = extraRecords?.() ?? {}
    const performed =
      outcome?.seq === seq
        ? this.#replica.applyPrepared(outcome, by, time)
        : this.#replica.applyPlan(plan, by, time, seq, waiting)
    // If it has to be decided again, the files are others.
    return performed && { ...request, outcome: undefined, ...performed, extra: also }
  }

  #commit(waiting: readonly PendingOperation[]): MaybePromise<void> {
    const { reader, blobs } = this.#context
    const mark = this.#replica.takeSnapshot()
    const staged = blobs.takeStagedById(
      waiting.flatMap(({ entry }) => listOperationBlobs(entry.operation).map(({ blob }) => blob)),
    )
    this.#pending = []
    this.#inFlight = waiting
    const settle = (isAccepted: boolean) => {
      this.#inFlight = []
      this.#wasRefused = !isAccepted
      if (!isAccepted) {
        blobs.restage(staged)
        return this.#replan(waiting)
      }
      blobs.markStored(staged)
      this.#replica.markCommitted(waiting.length, mark)
      for (const { resolve } of waiting) resolve()
      this.#notifyListeners()
    }
    const fail = (error: unknown) => {
      this.#inFlight = []
      blobs.restage(staged)
      this.#seenChangeCount = -1
      if (isVfsError(error, 'EUNKNOWN')) this.#replica.resetToStored()
      for (const { reject } of waiting) reject(error)
      // Nothing of it is known to be stored: the tree goes back, and what came since is decided again.
      return this.#replan([])
    }
    const batch = {
      ...createJournalBatch(waiting, this.head.id, this.seq),
      ...toBatchBlobs(staged, this.#wasRefused),
    }
    const isStored = () => batch.journal.slice(0, 1).every((row) => isRowStored(reader, row))
    return this.#awaitCommit(() => commitOnce(reader, batch, isStored), settle, fail)
  }

  /** Goes back to what is committed, takes in what others did, and decides everything that waits again. */
  #replan(waiting: readonly PendingOperation[]): MaybePromise<void> {
    this.#isReplanning = true
    const all = [...waiting, ...this.#pending]
    const giveUp = (error: unknown) => {
      this.#isReplanning = false
      this.#pending = []
      this.#seenChangeCount = -1
      this.#replica.resetToStored()
      for (const { reject } of all) reject(error)
    }
    try {
      const redone = this.#context.reader.run(() => this.#reapplyAll(all))
      return redone instanceof Promise ? redone.catch(giveUp) : redone
    } catch (error) {
      return giveUp(error)
    }
  }

  #reapplyAll(all: readonly PendingOperation[]): void {
    this.#pending = []
    this.#replica.rollBack()
    this.#replica.catchUp()
    for (const one of all) {
      try {
        const again = this.#applyRequest(one)
        if (again === null) one.resolve()
        else this.#pending.push(again)
      } catch (error) {
        if (error instanceof PageFault) throw error
        one.reject(error)
      }
    }
    this.#isReplanning = false
  }

  #commitFlush(fold: PageFlush, options: PageFlushOptions): MaybePromise<number> {
    const batch = fold.createBatch()
    if (batch === null) return fold.root
    const settle = (isNewest: boolean): MaybePromise<number | null> => {
      if (!isNewest) return chain(this.#abandonFlush(fold), () => null)
      this.#replica.markFlushed(fold.head)
      return fold.root
    }
    const fail = (error: unknown) =>
      chain(this.#abandonFlush(fold), (): number => {
        throw error
      })
    const { reader } = this.#context
    const commit = () => commitOnce(reader, batch, () => fold.isStored(reader))
    const folded = this.#awaitCommit<number | null>(commit, settle, fail)
    // Another process has folded first. Its pages stand for the same files, and only they are stored.
    return chain(folded, (root) => root ?? this.#flushExclusively(options))
  }

  /** Back to the tree that is stored, and through the journal again. */
  #abandonFlush(fold: PageFlush): MaybePromise<void> {
    fold.undo()
    this.#seenChangeCount = -1
    this.#replica.resetToStored()
    return this.#replan([])
  }

  /** Everything is committed and acknowledged, in the journal: if this fails, a later flush folds again. */
  #tryFlush(): MaybePromise<boolean> {
    const fail = () => {
      this.#failedFlushSeq = this.seq
      return false
    }
    try {
      const folded = this.flushPages()
      return folded instanceof Promise ? folded.then(() => true, fail) : true
    } catch {
      return fail()
    }
  }

  /** Goes on when a commit is answered; until then nobody else commits. */
  #awaitCommit<T>(
    commit: () => MaybePromise<boolean>,
    settle: (isAccepted: boolean) => MaybePromise<T>,
    fail: (error: unknown) => MaybePromise<T>,
  ): MaybePromise<T> {
    let answer: MaybePromise<boolean>
    try {
      answer = commit()
    } catch (error) {
      return fail(error)
    }
    if (!(answer instanceof Promise)) return settle(answer)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#commitInProgress = promise
    const release = () => {
      this.#commitInProgress = undefined
      resolve()
    }
    // Redoing waits for nobody: what it needs of the engine it reads.
    return answer.then(settle, fail).finally(release)
  }

  #notifyListeners(): void {
    for (const listener of this.#listeners) listener()
  }
}
