import { isVfsError, VfsError } from '../../vfs/index.ts'
import { commitOnce, isRowStored, unknownOutcome } from '../commit-once.ts'
import type { Answer } from '../engine.ts'
import type { Files } from '../files/files.ts'
import type { Provenance } from '../files/operation.ts'
import { blobsIn } from '../files/operation-blobs.ts'
import { chain, type EngineReader } from '../reader.ts'
import { PageFault } from '../tree/node-cache.ts'
import { type Blobs, blobsOf } from './blobs.ts'
import { Fold, type FoldOptions, type FoldParts } from './fold.ts'
import type { Head } from './head.ts'
import { Journal } from './journal.ts'
import type { OpenInodes } from './open-inodes.ts'
import { type Besides, batchOf, type Pending, type Request } from './pending.ts'
import type { Quota } from './quota.ts'
import { type Outcome, type Plan, Replica } from './replica.ts'

/** How many operations may wait in the journal before they are folded into pages: what an open has to replay. */
const FOLD_AFTER = 2000
/** How many more before a fold that failed is tried again: on a full disk, each try costs as much as it would with room. */
const RETRY_FOLD_AFTER = 200

export interface VaultLogParts extends FoldParts {
  readonly reader: EngineReader
  readonly blobs: Blobs
}

/**
 * The one way a vault changes. An operation is applied to the tree in memory, appended to the journal together with
 * all others of the same moment, and acknowledged when that is committed; pages follow later, in batches.
 * Whoever loses a race takes in what the winner did and decides again.
 */
export class VaultLog {
  readonly #parts: VaultLogParts
  readonly #replica: Replica
  #pending: Pending[] = []
  #inFlight: readonly Pending[] = []
  /** A commit or fold that a remote engine has not answered yet. */
  #busy: Promise<void> | undefined
  /** The one fold that a remote engine lets wait. Nothing new is accepted until it is done, so it always gets its turn. */
  #folding: Promise<void> | undefined
  /** The last row of the journal when a fold failed. */
  #failedFoldAt = Number.NEGATIVE_INFINITY
  #isRedoing = false
  #wasRefused = false
  #seenChanges = -1
  readonly #listeners = new Set<() => void>()

  constructor(parts: VaultLogParts, head: Head) {
    this.#parts = parts
    this.#replica = new Replica(parts.cache, parts.reader, parts.key, head)
  }

  get head(): Head {
    return this.#replica.head
  }

  /** The last journal row that is committed, as far as this process knows. */
  get seq(): number {
    return this.#replica.seq
  }

  get journal(): Journal {
    return new Journal(this.#parts.reader, this.head)
  }

  /** What this process has open of it. Only on a local engine. */
  get opens(): OpenInodes {
    return this.#replica.opens
  }

  get quota(): Quota {
    this.read()
    return this.#replica.quota
  }

  /** The files as they are committed, by whichever process. They change with the vault: fork the tree to keep them. */
  read(): Files {
    if (this.#pending.length > 0 && this.#busy === undefined) this.flush()
    if (this.#busy !== undefined) {
      if (this.#replica.isForgotten) throw new PageFault(this.#busy)
      return this.#replica.committed()
    }
    this.refresh()
    return this.#replica.files
  }

  /** The files as this process knows them, without asking anybody. */
  known(): Files {
    return this.#replica.known()
  }

  /** Takes in what other processes have committed. ENOENT if they have deleted the vault. */
  refresh(): void {
    if (!this.#isIdle()) return
    const changes = this.#parts.reader.changeCount()
    if (changes === this.#seenChanges) return
    const isNews = this.#replica.takeIn()
    this.#seenChanges = changes
    if (isNews) this.#tell()
  }

  /** Forgets what it knows of the vault, so that the next look is at the store. */
  invalidate(): void {
    this.#seenChanges = -1
  }

  /** Goes back to what is stored: something that was taken for committed may not be, or in another form. */
  reload(): void {
    this.#seenChanges = -1
    this.#replica.forget()
  }

  /** Calls back after each commit this process makes or takes in, until the returned function is called. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Does what the plan decides; resolves when it is committed, rejects when it cannot be done. */
  submit(plan: Plan, by: Provenance = {}, besides?: Besides): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = { plan, by, besides, resolve, reject }
      try {
        const accepted = this.#parts.reader.resolve(() => this.#accept(request))
        if (accepted instanceof Promise) accepted.catch(reject)
      } catch (error) {
        reject(error)
      }
    })
  }

  /** The same, done when it returns. Only on a local engine. */
  submitNow(plan: Plan, by: Provenance = {}): void {
    this.#doNow({ plan, by })
  }

  /** The same for what was drafted on a fork of these files while nobody else could commit. */
  adoptNow(outcome: Outcome, by: Provenance, time: number): void {
    this.#doNow({ plan: () => outcome.operation, by, time, outcome })
  }

  #doNow(what: Omit<Request, 'besides' | 'resolve' | 'reject'>): void {
    const failures: unknown[] = []
    const reject = (error: unknown) => failures.push(error)
    this.#accept({ ...what, besides: undefined, resolve: () => {}, reject })
    if (this.flush() instanceof Promise) {
      const detail = `the engine '${this.#parts.reader.engine.name}' is not local`
      throw new VfsError('ENOTSUP', '/', { detail })
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Commits everything that waits, and folds when the journal has grown long. */
  flush(): Answer<void> {
    return chain(this.#commitPending(), () => {
      if (this.#isFoldDue()) return chain(this.#foldQuietly(), () => {})
    })
  }

  /** Commits everything that waits, and folds; false if that failed, so that it stays in the journal. */
  settle(): Answer<boolean> {
    return chain(this.flush(), () => this.#foldQuietly())
  }

  /** Stores the tree as pages and notes it in the head: from here an open, a fork and a checkpoint can start. */
  fold(options: FoldOptions = {}): Answer<number> {
    if (this.#folding !== undefined) return this.#folding.then(() => this.fold(options))
    const folded = this.#foldAlone(options)
    if (!(folded instanceof Promise)) return folded
    const release = () => {
      this.#folding = undefined
    }
    this.#folding = folded.then(release, release)
    return folded
  }

  /** Makes everything that is committed survive power loss, and folds it if that can be done. EUNKNOWN. */
  async persist(): Promise<void> {
    try {
      await this.fold({ durable: true })
    } catch (failure) {
      // Everything is committed, in the journal: what failed is no failure of that.
      try {
        await this.#parts.reader.engine.sync()
      } catch (cause) {
        throw unknownOutcome(failure, cause)
      }
    }
  }

  /** What comes meanwhile is committed by those who bring it: waiting for them, too, might never end. */
  #commitPending(): Answer<void> {
    if (this.#busy !== undefined) return this.#busy.then(() => this.#commitPending())
    if (this.#pending.length === 0) return
    return chain(this.#commit(this.#pending), () => {
      if (this.#wasRefused && this.#pending.length > 0) return this.#commitPending()
    })
  }

  #isFoldDue(): boolean {
    if (this.#folding !== undefined || this.seq - this.head.seq < FOLD_AFTER) return false
    return this.seq - this.#failedFoldAt >= RETRY_FOLD_AFTER
  }

  #foldAlone(options: FoldOptions): Answer<number> {
    if (!this.#isIdle()) return chain(this.#commitPending(), () => this.#foldAlone(options))
    const fold = new Fold(this.#parts, this.#replica, options)
    const ready = this.#parts.reader.resolve(() => {
      this.refresh()
      fold.prepare()
    })
    return chain(ready, () => this.#foldNow(fold, options))
  }

  #isIdle(): boolean {
    return this.#busy === undefined && this.#pending.length === 0
  }

  #accept(request: Request): void {
    if (this.#folding !== undefined) throw new PageFault(this.#folding)
    const isUnsettled = this.#isRedoing || this.#replica.isForgotten
    if (isUnsettled && this.#busy !== undefined) throw new PageFault(this.#busy)
    // Nothing is known of it yet, or no longer: not what its quota is, nor that it was deleted.
    if (this.#seenChanges === -1) this.refresh()
    const pending = this.#decide(request)
    if (pending === null) {
      request.resolve()
      return
    }
    this.#pending.push(pending)
    if (this.#pending.length === 1) queueMicrotask(() => this.flush())
  }

  /**
   * Decides on what is known. If others have committed meanwhile, the commit is refused and everything decided again;
   * only a refusal, which would never get there, has to be on what is true now.
   */
  #decide(request: Request): Pending | null {
    try {
      const pending = this.#perform(request)
      if (pending !== null) return pending
    } catch (error) {
      if (error instanceof PageFault) throw error
    }
    const flushed = this.flush()
    if (flushed instanceof Promise) throw new PageFault(flushed)
    this.refresh()
    return this.#perform(request)
  }

  #perform(request: Request): Pending | null {
    const { plan, by, besides, time = Date.now(), outcome } = request
    const seq = this.seq + this.#inFlight.length + this.#pending.length + 1
    const waiting = () => [...this.#inFlight, ...this.#pending].map(({ entry }) => entry)
    // Asked for before anything changes: if it cannot be had, nothing has.
    const also = besides?.() ?? {}
    const performed =
      outcome?.seq === seq
        ? this.#replica.adopt(outcome, by, time)
        : this.#replica.perform(plan, by, time, seq, waiting)
    // If it has to be decided again, the files are others.
    return performed && { ...request, outcome: undefined, ...performed, also }
  }

  #commit(waiting: readonly Pending[]): Answer<void> {
    const { reader, blobs } = this.#parts
    const mark = this.#replica.mark()
    const staged = blobs.takeOnly(
      waiting.flatMap(({ entry }) => blobsIn(entry.operation).map(({ blob }) => blob)),
    )
    this.#pending = []
    this.#inFlight = waiting
    const settle = (isAccepted: boolean) => {
      this.#inFlight = []
      this.#wasRefused = !isAccepted
      if (!isAccepted) {
        blobs.restage(staged)
        return this.#redo(waiting)
      }
      blobs.stored(staged)
      this.#replica.advance(waiting.length, mark)
      for (const { resolve } of waiting) resolve()
      this.#tell()
    }
    const fail = (error: unknown) => {
      this.#inFlight = []
      blobs.restage(staged)
      this.#seenChanges = -1
      if (isVfsError(error, 'EUNKNOWN')) this.#replica.forget()
      for (const { reject } of waiting) reject(error)
      // Nothing of it is known to be stored: the tree goes back, and what came since is decided again.
      return this.#redo([])
    }
    const batch = { ...batchOf(waiting, this.head.id, this.seq), ...blobsOf(staged, this.#wasRefused) }
    const isStored = () => batch.journal.slice(0, 1).every((row) => isRowStored(reader, row))
    return this.#wait(() => commitOnce(reader, batch, isStored), settle, fail)
  }

  /** Goes back to what is committed, takes in what others did, and decides everything that waits again. */
  #redo(waiting: readonly Pending[]): Answer<void> {
    this.#isRedoing = true
    const all = [...waiting, ...this.#pending]
    const giveUp = (error: unknown) => {
      this.#isRedoing = false
      this.#pending = []
      this.#seenChanges = -1
      this.#replica.forget()
      for (const { reject } of all) reject(error)
    }
    try {
      const redone = this.#parts.reader.resolve(() => this.#performAgain(all))
      return redone instanceof Promise ? redone.catch(giveUp) : redone
    } catch (error) {
      return giveUp(error)
    }
  }

  #performAgain(all: readonly Pending[]): void {
    this.#pending = []
    this.#replica.rollBack()
    this.#replica.takeIn()
    for (const one of all) {
      try {
        const again = this.#perform(one)
        if (again === null) one.resolve()
        else this.#pending.push(again)
      } catch (error) {
        if (error instanceof PageFault) throw error
        one.reject(error)
      }
    }
    this.#isRedoing = false
  }

  #foldNow(fold: Fold, options: FoldOptions): Answer<number> {
    const batch = fold.batch()
    if (batch === null) return fold.root
    const settle = (isNewest: boolean): Answer<number | null> => {
      if (!isNewest) return chain(this.#abandonFold(fold), () => null)
      this.#replica.folded(fold.head)
      return fold.root
    }
    const fail = (error: unknown) =>
      chain(this.#abandonFold(fold), (): number => {
        throw error
      })
    const { reader } = this.#parts
    const commit = () => commitOnce(reader, batch, () => fold.isStored(reader))
    const folded = this.#wait<number | null>(commit, settle, fail)
    // Another process has folded first. Its pages stand for the same files, and only they are stored.
    return chain(folded, (root) => root ?? this.#foldAlone(options))
  }

  /** Back to the tree that is stored, and through the journal again. */
  #abandonFold(fold: Fold): Answer<void> {
    fold.undo()
    this.#seenChanges = -1
    this.#replica.forget()
    return this.#redo([])
  }

  /** Everything is committed and acknowledged, in the journal: if this fails, a later flush folds again. */
  #foldQuietly(): Answer<boolean> {
    const fail = () => {
      this.#failedFoldAt = this.seq
      return false
    }
    try {
      const folded = this.fold()
      return folded instanceof Promise ? folded.then(() => true, fail) : true
    } catch {
      return fail()
    }
  }

  /** Goes on when a commit is answered; until then nobody else commits. */
  #wait<T>(
    commit: () => Answer<boolean>,
    settle: (isAccepted: boolean) => Answer<T>,
    fail: (error: unknown) => Answer<T>,
  ): Answer<T> {
    let answer: Answer<boolean>
    try {
      answer = commit()
    } catch (error) {
      return fail(error)
    }
    if (!(answer instanceof Promise)) return settle(answer)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#busy = promise
    const release = () => {
      this.#busy = undefined
      resolve()
    }
    // Redoing waits for nobody: what it needs of the engine it reads.
    return answer.then(settle, fail).finally(release)
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
