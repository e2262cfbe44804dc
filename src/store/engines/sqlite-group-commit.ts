import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { makePrivateFile } from '../../machine/index.ts'
import type { Batch, GroupCommit, SideLogBatch } from '../engine.ts'
import type { DiskSpace } from './disk-space.ts'
import { commitError } from './engine-errors.ts'
import { SideLog, TOKEN_BYTES } from './sqlite-side-log.ts'

/** How often it is looked whether somebody waits, and how long the store is then left to others. */
const LOCK_CHECK_INTERVAL_MS = 1
const YIELD_LOCK_MS = 1000
/** The record that names a committed state: changed by each commit that something may be kept behind. */
const TOKEN_KEY = 'spool'
const TOKEN_POOL_BYTES = 512 * TOKEN_BYTES

/** The transactions of one connection. */
export interface SqliteTransactions {
  /** Called once, before the store is held for the first time. */
  beforeFirstGroup(): void
  begin(): void
  commit(): void
  /** Never throws. */
  rollback(): void
  isCurrent(batch: Batch): boolean
  apply(batch: Batch): void
  record(key: string): Uint8Array | undefined
  /** Changes when another connection has committed. */
  changeCount(): number
}

/**
 * The commits of one connection. To hold the store is a transaction that stays open, and with it the write lock; what
 * is kept meanwhile goes to a spool. That is done only right behind a commit of this connection that nobody followed,
 * and each batch in the spool names it: so whoever gets the lock after a kill takes them in where they belong.
 */
export class SqliteGroupCommit implements GroupCommit {
  readonly #transactions: SqliteTransactions
  readonly #sideLog: SideLog
  readonly #diskSpace: DiskSpace
  /** A file that is there while somebody waits for the lock. */
  readonly #lockRequestFile: string
  /** Whether anybody has ever asked for it: only then is it worth to name each state that is left. */
  #isEnabled = false
  #isActive = false
  #hasAppended = false
  #isCommitting = false
  #checkedAt = 0
  #yieldsUntil = 0
  /** The committed state that was left last, if it was by this connection. */
  #lastOwnCommit: { readonly token: Uint8Array; readonly changes: number } | undefined

  constructor(file: string, transactions: SqliteTransactions, room: DiskSpace) {
    this.#transactions = transactions
    this.#sideLog = new SideLog(`${file}-spool`)
    this.#diskSpace = room
    this.#lockRequestFile = `${file}-wish`
  }

  get isLockRequested(): boolean {
    const now = performance.now()
    if (now - this.#checkedAt < LOCK_CHECK_INTERVAL_MS) return false
    this.#checkedAt = now
    if (statSync(this.#lockRequestFile, { throwIfNoEntry: false }) === undefined) return false
    rmSync(this.#lockRequestFile, { force: true })
    this.#yieldsUntil = now + YIELD_LOCK_MS
    return true
  }

  get isActive(): boolean {
    return this.#isActive
  }

  begin(): boolean {
    if (this.#isActive) return true
    if (this.isLockRequested || performance.now() < this.#yieldsUntil) return false
    // Where room is short, each change is committed by itself, and refused by itself.
    if (!this.#diskSpace.canGroupCommit()) return false
    if (!this.#isEnabled) this.#transactions.beforeFirstGroup()
    this.#isEnabled = true
    this.#isActive = this.#beginAfterOwnCommit() || this.#beginAfterOwnCommit()
    if (this.#isActive) this.#sideLog.rewind()
    else this.#transactions.rollback()
    return this.#isActive
  }

  append(batch: SideLogBatch): void {
    if (!this.#isActive || this.#lastOwnCommit === undefined) throw new TypeError('the store is not held')
    this.#hasAppended = true
    this.#sideLog.append(batch, this.#lastOwnCommit.token)
  }

  commit(work: () => void): void {
    if (!this.#isActive) {
      work()
      return
    }
    this.#isCommitting = true
    try {
      work()
      this.#commitTransaction()
    } catch (error) {
      this.#abort()
      throw commitError(error)
    } finally {
      this.#isCommitting = false
    }
  }

  /** Commits a batch, or makes it a part of what the store is held for; false if it is refused. */
  commitBatch(batch: Batch): boolean {
    const { isCurrent, apply, rollback } = this.#transactions
    if (this.#isActive && !this.#isCommitting && batch.sweep !== undefined)
      throw new TypeError('the store is held: settle first')
    try {
      if (!this.#isActive) {
        this.#diskSpace.assertSpaceFor(batch)
        this.#beginRecovered()
      }
      if (!isCurrent(batch)) {
        if (!this.#isActive) rollback()
        return false
      }
      apply(batch)
      if (!this.#isActive) this.#commitTransaction()
      else if (!this.#isCommitting) this.append(batch)
      return true
    } catch (error) {
      this.#abort()
      throw error
    }
  }

  /** Does something in a transaction of its own. */
  runExclusively(work: () => void): void {
    if (this.#isActive) throw new TypeError('the store is held: settle first')
    try {
      this.#beginRecovered()
      work()
      this.#commitTransaction()
    } catch (error) {
      this.#abort()
      throw error
    }
  }

  /** Waits for what others hold, and takes in what was left behind: whoever opens a store misses nothing. */
  recover(): void {
    try {
      if (this.#needsRecovery()) this.#beginRecovered()
    } catch {
      // Whoever holds it does not let go, or this user may only read: then it is seen as far as it is committed.
    } finally {
      this.#transactions.rollback()
    }
  }

  close(): void {
    if (this.#isActive) this.#abort()
    // Where somebody holds the store, it is for him: nobody waits for the lock only to tidy up.
    if (this.#isEnabled && !this.#needsRecovery()) this.#truncateSideLog()
    this.#sideLog.close()
  }

  #truncateSideLog(): void {
    try {
      this.#transactions.begin()
      if (this.#needsRecovery()) return
      this.#sideLog.truncate()
    } catch {
      // It takes room and does no harm.
    } finally {
      this.#transactions.rollback()
    }
  }

  /** Whether something in the spool follows what is committed: somebody holds the store, or was killed while he did. */
  #needsRecovery(): boolean {
    const { token } = this.#sideLog
    const committed = token && this.#transactions.record(TOKEN_KEY)
    return token !== undefined && committed !== undefined && Buffer.compare(token, committed) === 0
  }

  /** Begins a transaction on everything that was acknowledged, also by one that was killed. */
  #beginRecovered(): void {
    const { begin, commit } = this.#transactions
    if (this.#needsRecovery()) this.#requestLock()
    begin()
    // Whoever had the lock has committed it meanwhile, unless he is dead.
    if (!this.#needsRecovery()) return
    this.#replaySideLog()
    this.#writeToken(createToken())
    commit()
    rmSync(this.#lockRequestFile, { force: true })
    begin()
  }

  #replaySideLog(): void {
    const { record, isCurrent, apply } = this.#transactions
    for (const batch of this.#sideLog.readBatchesAfter(record(TOKEN_KEY) ?? new Uint8Array(0))) {
      // Nobody can have come in between; but rows of a journal must never be put where they do not belong.
      if (!isCurrent(batch)) return
      apply(batch)
    }
  }

  /** Begins a transaction; false if the last commit is somebody else's: then there is one of ours behind it. */
  #beginAfterOwnCommit(): boolean {
    this.#beginRecovered()
    if (this.#lastOwnCommit?.changes === this.#transactions.changeCount()) return true
    this.#commitTransaction()
    return false
  }

  #commitTransaction(): void {
    const { changeCount, commit } = this.#transactions
    const left = this.#isEnabled ? { token: createToken(), changes: changeCount() } : undefined
    if (left !== undefined) this.#writeToken(left.token)
    try {
      commit()
    } catch (error) {
      if (left === undefined || !this.#isCommitted(left.token)) throw error
    }
    this.#lastOwnCommit = left
    this.#isActive = false
    this.#hasAppended = false
  }

  /** Whether a commit that failed was done all the same: then the store names the state it left. */
  #isCommitted(token: Uint8Array): boolean {
    const { record, rollback } = this.#transactions
    rollback()
    const found = record(TOKEN_KEY)
    return found !== undefined && Buffer.compare(found, token) === 0
  }

  /** What failed is undone, and what was kept before is taken in from the spool, if that can be. */
  #abort(): void {
    const { rollback } = this.#transactions
    const hasKept = this.#hasAppended
    rollback()
    this.#lastOwnCommit = undefined
    this.#isActive = false
    this.#hasAppended = false
    if (!hasKept) return
    // What was kept is acknowledged: on a full disk the reserve is for it.
    if (this.#tryRecover()) return
    this.#diskSpace.releaseReserve()
    this.#tryRecover()
  }

  /** Commits what is in the spool; false if that fails, and then it stays there until somebody can. */
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

  #requestLock(): void {
    try {
      makePrivateFile(this.#lockRequestFile)
    } catch {
      // Without it, the wait is longer.
    }
  }
}

/** Random bytes are dear by the piece: these are for the next hundreds of commits. */
let tokenPool = new Uint8Array(0)

function createToken(): Uint8Array {
  if (tokenPool.length === 0) tokenPool = randomBytes(TOKEN_POOL_BYTES)
  const token = tokenPool.slice(0, TOKEN_BYTES)
  tokenPool = tokenPool.subarray(TOKEN_BYTES)
  return token
}
