import { randomBytes } from 'node:crypto'
import type { Batch, GroupCommit, SideLogBatch } from '../engine.ts'
import type { DiskSpace } from '../engines/disk-space.ts'
import { toCommitError } from '../engines/engine-errors.ts'
import {
  type GroupCommitState,
  hasAppendedBatches,
  isGroupActive,
  type OwnCommit,
  transition,
} from './group-commit-state.ts'
import { LockRequest } from './lock-request.ts'
import { SIDE_LOG_NAME, SideLog, TOKEN_BYTES } from './side-log.ts'

/** Record that names a committed state; each commit that a group can follow changes it. */
const TOKEN_KEY = SIDE_LOG_NAME
/** Interval at which a commit looks for another connection's group before it waits for the lock. */
const GROUP_CHECK_INTERVAL_MS = 1
const TOKEN_POOL_BYTES = 512 * TOKEN_BYTES

/** Transactions of one connection. */
export interface SqliteTransactions {
  begin(): void
  /**
   * Raises the format of the store to the one of all that groups may append. An earlier version refuses to open the store
   * then; it would not understand the side log of a killed process.
   */
  raiseFormat(): void
  commit(): void
  /** Never throws. */
  rollback(): void
  /** Reports whether the expectations of a batch hold. */
  isCurrent(batch: Batch): boolean
  apply(batch: Batch): void
  /**
   * Commits a batch of one row at once, false if it is refused. Undefined if it has more, the disk is nearly full or
   * there is a token.
   */
  commitRow(batch: Batch): boolean | undefined
  record(key: string): Uint8Array | undefined
  /** Changes when another connection has committed. */
  changeCount(): number
}

/**
 * Group commit of one connection. A group is a transaction that stays open, and with it the write lock; its batches go
 * to the side log. A group only follows a commit of this connection, and each batch names that commit by its token.
 * After a kill, the next connection that gets the lock therefore replays exactly the batches that belong there.
 */
export class SqliteGroupCommit implements GroupCommit {
  readonly #transactions: SqliteTransactions
  readonly #sideLog: SideLog
  readonly #diskSpace: DiskSpace
  readonly #lockRequest: LockRequest
  #state: GroupCommitState = { kind: 'unused' }
  /** True if the committed state had a token when this connection last read it. */
  #sawToken = false
  #replays = 0
  /** Time at which this connection last looked for the group of another one. */
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(file: string, transactions: SqliteTransactions, diskSpace: DiskSpace) {
    this.#transactions = transactions
    this.#sideLog = new SideLog(`${file}-${SIDE_LOG_NAME}`)
    this.#diskSpace = diskSpace
    this.#lockRequest = new LockRequest(`${file}-wish`)
  }

  receiveLockRequest(): boolean {
    return this.#lockRequest.receive()
  }

  get isActive(): boolean {
    return isGroupActive(this.#state)
  }

  /** Number of times that this connection committed what a killed process had acknowledged. */
  get replays(): number {
    return this.#replays
  }

  begin(): boolean {
    if (this.isActive) return true
    if (this.#lockRequest.shouldYield()) return false
    // Where space is short, each change is committed, and refused, on its own.
    if (!this.#diskSpace.canGroupCommit()) return false
    this.#enable()
    if (!this.#beginAfterOwnCommit() && !this.#beginAfterOwnCommit()) {
      this.#transactions.rollback()
      return false
    }
    this.#state = transition(this.#state, 'begin')
    this.#sideLog.rewind()
    return true
  }

  append(batch: SideLogBatch): void {
    const state = transition(this.#state, 'append')
    this.#state = state
    if (state.kind === 'appended') this.#sideLog.append(batch, state.last.token)
  }

  commit(work: () => void): void {
    if (!this.isActive) {
      work()
      return
    }
    this.#state = transition(this.#state, 'commit')
    try {
      work()
      this.#commitTransaction()
    } catch (error) {
      this.#abort()
      throw toCommitError(error)
    }
  }

  /** Commits a batch, or adds it to the open group; false if the batch is refused. TypeError for a sweep in a group. */
  commitBatch(batch: Batch): boolean {
    if (!this.isActive) return this.#commitAlone(batch)
    const isCommitting = this.#state.kind === 'committing'
    if (!isCommitting && batch.sweep !== undefined) throw createGroupOpenError()
    const { isCurrent, apply } = this.#transactions
    try {
      if (!isCurrent(batch)) return false
      apply(batch)
      if (!isCommitting) this.append(batch)
      return true
    } catch (error) {
      this.#abort()
      throw error
    }
  }

  #commitAlone(batch: Batch): boolean {
    const { isCurrent, apply, commitRow, rollback } = this.#transactions
    try {
      this.#diskSpace.assertSpaceFor(batch)
      if (this.#state.kind === 'unused' && !this.#requestLockIfDue()) {
        const isCommitted = commitRow(batch)
        if (isCommitted !== undefined) return isCommitted
      }
      this.#beginRecovered()
      if (!isCurrent(batch)) {
        rollback()
        return false
      }
      apply(batch)
      this.#removeToken()
      this.#commitTransaction()
      return true
    } catch (error) {
      this.#abort()
      throw error
    }
  }

  /**
   * Removes the token that a connection with groups left, if this one begins none; the side log is committed by now.
   * While there is no token, no connection has to look for a side log.
   */
  #removeToken(): void {
    if (this.#state.kind === 'unused' && this.#sawToken)
      this.#transactions.apply({ records: [{ key: TOKEN_KEY, bytes: null }] })
  }

  /** Runs work in a transaction of its own. TypeError if a group is open. */
  runExclusively(work: () => void): void {
    if (this.isActive) throw createGroupOpenError()
    try {
      this.#beginRecovered()
      work()
      this.#commitTransaction()
    } catch (error) {
      this.#abort()
      throw error
    }
  }

  /** Waits for another connection's group and replays what a killed one left, so that an open misses nothing. */
  recover(): void {
    try {
      if (this.#needsRecovery()) this.#beginRecovered()
    } catch {
      // The lock is not released, or this user may only read: then the store is seen as far as it is committed.
    } finally {
      this.#transactions.rollback()
    }
  }

  close(): void {
    if (this.isActive) this.#abort()
    // Another connection's group needs its side log: a close does not wait for the lock only to tidy up.
    if (this.#state.kind !== 'unused' && !this.#needsRecovery()) this.#truncateSideLog()
    this.#sideLog.close()
  }

  #enable(): void {
    if (this.#state.kind !== 'unused') return
    this.#state = transition(this.#state, 'enable')
  }

  #truncateSideLog(): void {
    try {
      this.#transactions.begin()
      if (this.#needsRecovery()) return
      this.#sideLog.truncate()
    } catch {
      // The file takes space and does no harm.
    } finally {
      this.#transactions.rollback()
    }
  }

  /** True if the side log follows the committed state: another connection has a group, or was killed in one. */
  #needsRecovery(): boolean {
    const committed = this.#transactions.record(TOKEN_KEY)
    this.#sawToken = committed !== undefined
    // No look at the disk without a token: no group was begun since a connection that has none removed it.
    const token = committed && this.#sideLog.token
    return token !== undefined && committed !== undefined && Buffer.compare(token, committed) === 0
  }

  /** Begins a transaction on everything that was acknowledged, also by a killed process. */
  #beginRecovered(): void {
    const { begin, commit } = this.#transactions
    this.#requestLockIfDue()
    begin()
    // A live owner of the lock has committed its group before it released the lock.
    if (!this.#needsRecovery()) return
    this.#replaySideLog()
    this.#writeToken(createToken())
    commit()
    this.#replays++
    this.#lockRequest.withdraw()
    begin()
  }

  /**
   * Requests the lock from a connection that has a group, or was killed in one; false if there is none. Looks once a
   * millisecond: a connection that begins a group in between releases the lock some milliseconds later anyhow.
   */
  #requestLockIfDue(): boolean {
    const now = performance.now()
    if (now - this.#lookedAt < GROUP_CHECK_INTERVAL_MS) return false
    this.#lookedAt = now
    if (!this.#needsRecovery()) return false
    this.#lockRequest.send()
    return true
  }

  #replaySideLog(): void {
    const { record, isCurrent, apply } = this.#transactions
    for (const batch of this.#sideLog.readBatchesAfter(record(TOKEN_KEY) ?? new Uint8Array(0))) {
      // No commit can lie between; but journal rows must never be put where they do not belong.
      if (!isCurrent(batch)) return
      apply(batch)
    }
  }

  /** Begins a transaction; if the last commit is another connection's, commits instead and returns false. */
  #beginAfterOwnCommit(): boolean {
    this.#beginRecovered()
    const { changeCount } = this.#transactions
    if (this.#state.kind === 'idle' && this.#state.last?.changes === changeCount()) return true
    this.#commitTransaction()
    return false
  }

  #commitTransaction(): void {
    const { changeCount, commit } = this.#transactions
    const own: OwnCommit | undefined =
      this.#state.kind === 'unused' ? undefined : { token: createToken(), changes: changeCount() }
    if (own !== undefined) {
      this.#transactions.raiseFormat()
      this.#writeToken(own.token)
    }
    try {
      commit()
    } catch (error) {
      if (own === undefined || !this.#isCommitted(own.token)) throw error
    }
    this.#state = transition(this.#state, 'committed', own)
  }

  /** True if a commit that failed was done all the same: then the store has its token. */
  #isCommitted(token: Uint8Array): boolean {
    const { record, rollback } = this.#transactions
    rollback()
    const found = record(TOKEN_KEY)
    return found !== undefined && Buffer.compare(found, token) === 0
  }

  /** Rolls back what failed, then commits what the side log has of the group. */
  #abort(): void {
    const hadAppended = hasAppendedBatches(this.#state)
    this.#transactions.rollback()
    this.#state = transition(this.#state, 'aborted')
    if (!hadAppended || this.#tryRecover()) return
    // The batches are acknowledged: on a full disk the reserve is for them.
    this.#diskSpace.releaseReserve()
    this.#tryRecover()
  }

  /** Commits the side log; false if that fails, and then a later connection does. */
  #tryRecover(): boolean {
    try {
      this.#beginRecovered()
      return true
    } catch {
      return false
    } finally {
      this.#transactions.rollback()
    }
  }

  #writeToken(token: Uint8Array): void {
    this.#transactions.apply({ records: [{ key: TOKEN_KEY, bytes: token }] })
  }
}

function createGroupOpenError(): TypeError {
  return new TypeError('a group commit is open: commit it first')
}

/** Random bytes for the next hundreds of commits: single requests for them are slow. */
let tokenPool = new Uint8Array(0)

function createToken(): Uint8Array {
  if (tokenPool.length === 0) tokenPool = randomBytes(TOKEN_POOL_BYTES)
  const token = tokenPool.slice(0, TOKEN_BYTES)
  tokenPool = tokenPool.subarray(TOKEN_BYTES)
  return token
}
