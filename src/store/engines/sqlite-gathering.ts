import { randomBytes } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { makePrivateFile } from '../../machine/index.ts'
import type { Batch, Gathering, SpooledBatch } from '../engine.ts'
import type { DiskRoom } from './disk-room.ts'
import { commitError } from './engine-errors.ts'
import { Spool, TOKEN_BYTES } from './sqlite-spool.ts'

/** How often it is looked whether somebody waits, and how long the store is then left to others. */
const LOOK_MS = 1
const REST_MS = 1000
/** The record that names a committed state: changed by each commit that something may be kept behind. */
const TOKEN_KEY = 'spool'
const RANDOM_BYTES = 512 * TOKEN_BYTES

/** The transactions of one connection. */
export interface Transactions {
  /** Called once, before the store is held for the first time. */
  beforeHolding(): void
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
export class SqliteGathering implements Gathering {
  readonly #transactions: Transactions
  readonly #spool: Spool
  readonly #room: DiskRoom
  /** A file that is there while somebody waits for the lock. */
  readonly #wish: string
  /** Whether anybody has ever asked for it: only then is it worth to name each state that is left. */
  #isUsed = false
  #isHeld = false
  #hasKept = false
  #isSettling = false
  #lookedAt = 0
  #restsUntil = 0
  /** The committed state that was left last, if it was by this connection. */
  #left: { readonly token: Uint8Array; readonly changes: number } | undefined

  constructor(file: string, transactions: Transactions, room: DiskRoom) {
    this.#transactions = transactions
    this.#spool = new Spool(`${file}-spool`)
    this.#room = room
    this.#wish = `${file}-wish`
  }

  get isWanted(): boolean {
    const now = performance.now()
    if (now - this.#lookedAt < LOOK_MS) return false
    this.#lookedAt = now
    if (statSync(this.#wish, { throwIfNoEntry: false }) === undefined) return false
    rmSync(this.#wish, { force: true })
    this.#restsUntil = now + REST_MS
    return true
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  hold(): boolean {
    if (this.#isHeld) return true
    if (this.isWanted || performance.now() < this.#restsUntil) return false
    // Where room is short, each change is committed by itself, and refused by itself.
    if (!this.#room.canGroup()) return false
    if (!this.#isUsed) this.#transactions.beforeHolding()
    this.#isUsed = true
    this.#isHeld = this.#beginBehindOwn() || this.#beginBehindOwn()
    if (this.#isHeld) this.#spool.rewind()
    else this.#transactions.rollback()
    return this.#isHeld
  }

  keep(batch: SpooledBatch): void {
    if (!this.#isHeld || this.#left === undefined) throw new TypeError('the store is not held')
    this.#hasKept = true
    this.#spool.append(batch, this.#left.token)
  }

  settle(work: () => void): void {
    if (!this.#isHeld) {
      work()
      return
    }
    this.#isSettling = true
    try {
      work()
      this.#commit()
    } catch (error) {
      this.#giveUp()
      throw commitError(error)
    } finally {
      this.#isSettling = false
    }
  }

  /** Commits a batch, or makes it a part of what the store is held for; false if it is refused. */
  add(batch: Batch): boolean {
    const { isCurrent, apply, rollback } = this.#transactions
    if (this.#isHeld && !this.#isSettling && batch.sweep !== undefined)
      throw new TypeError('the store is held: settle first')
    try {
      if (!this.#isHeld) {
        this.#room.admit(batch)
        this.#begin()
      }
      if (!isCurrent(batch)) {
        if (!this.#isHeld) rollback()
        return false
      }
      apply(batch)
      if (!this.#isHeld) this.#commit()
      else if (!this.#isSettling) this.keep(batch)
      return true
    } catch (error) {
      this.#giveUp()
      throw error
    }
  }

  /** Does something in a transaction of its own. */
  alone(work: () => void): void {
    if (this.#isHeld) throw new TypeError('the store is held: settle first')
    try {
      this.#begin()
      work()
      this.#commit()
    } catch (error) {
      this.#giveUp()
      throw error
    }
  }

  /** Waits for what others hold, and takes in what was left behind: whoever opens a store misses nothing. */
  takeInLeft(): void {
    try {
      if (this.#hasLeft()) this.#begin()
    } catch {
      // Whoever holds it does not let go, or this user may only read: then it is seen as far as it is committed.
    } finally {
      this.#transactions.rollback()
    }
  }

  close(): void {
    if (this.#isHeld) this.#giveUp()
    // Where somebody holds the store, it is for him: nobody waits for the lock only to tidy up.
    if (this.#isUsed && !this.#hasLeft()) this.#emptySpool()
    this.#spool.close()
  }

  #emptySpool(): void {
    try {
      this.#transactions.begin()
      if (this.#hasLeft()) return
      this.#spool.empty()
    } catch {
      // It takes room and does no harm.
    } finally {
      this.#transactions.rollback()
    }
  }

  /** Whether something in the spool follows what is committed: somebody holds the store, or was killed while he did. */
  #hasLeft(): boolean {
    const { token } = this.#spool
    const committed = token && this.#transactions.record(TOKEN_KEY)
    return token !== undefined && committed !== undefined && Buffer.compare(token, committed) === 0
  }

  /** Begins a transaction on everything that was acknowledged, also by one that was killed. */
  #begin(): void {
    const { begin, commit } = this.#transactions
    if (this.#hasLeft()) this.#raiseWish()
    begin()
    // Whoever had the lock has committed it meanwhile, unless he is dead.
    if (!this.#hasLeft()) return
    this.#applyLeft()
    this.#putToken(newToken())
    commit()
    rmSync(this.#wish, { force: true })
    begin()
  }

  #applyLeft(): void {
    const { record, isCurrent, apply } = this.#transactions
    for (const batch of this.#spool.batchesAfter(record(TOKEN_KEY) ?? new Uint8Array(0))) {
      // Nobody can have come in between; but rows of a journal must never be put where they do not belong.
      if (!isCurrent(batch)) return
      apply(batch)
    }
  }

  /** Begins a transaction; false if the last commit is somebody else's: then there is one of ours behind it. */
  #beginBehindOwn(): boolean {
    this.#begin()
    if (this.#left?.changes === this.#transactions.changeCount()) return true
    this.#commit()
    return false
  }

  #commit(): void {
    const { changeCount, commit } = this.#transactions
    const left = this.#isUsed ? { token: newToken(), changes: changeCount() } : undefined
    if (left !== undefined) this.#putToken(left.token)
    try {
      commit()
    } catch (error) {
      if (left === undefined || !this.#isCommitted(left.token)) throw error
    }
    this.#left = left
    this.#isHeld = false
    this.#hasKept = false
  }

  /** Whether a commit that failed was done all the same: then the store names the state it left. */
  #isCommitted(token: Uint8Array): boolean {
    const { record, rollback } = this.#transactions
    rollback()
    const found = record(TOKEN_KEY)
    return found !== undefined && Buffer.compare(found, token) === 0
  }

  /** What failed is undone, and what was kept before is taken in from the spool, if that can be. */
  #giveUp(): void {
    const { rollback } = this.#transactions
    const hasKept = this.#hasKept
    rollback()
    this.#left = undefined
    this.#isHeld = false
    this.#hasKept = false
    if (!hasKept) return
    // What was kept is acknowledged: on a full disk the reserve is for it.
    if (this.#takesIn()) return
    this.#room.release()
    this.#takesIn()
  }

  /** Commits what is in the spool; false if that fails, and then it stays there until somebody can. */
  #takesIn(): boolean {
    try {
      this.#begin()
      return true
    } catch {
      return false
    } finally {
      this.#transactions.rollback()
    }
  }

  #putToken(token: Uint8Array): void {
    this.#transactions.apply({ records: [{ key: TOKEN_KEY, bytes: token }] })
  }

  #raiseWish(): void {
    try {
      makePrivateFile(this.#wish)
    } catch {
      // Without it, the wait is longer.
    }
  }
}

/** Random bytes are dear by the piece: these are for the next hundreds of commits. */
let random = new Uint8Array(0)

function newToken(): Uint8Array {
  if (random.length === 0) random = randomBytes(RANDOM_BYTES)
  const token = random.slice(0, TOKEN_BYTES)
  random = random.subarray(TOKEN_BYTES)
  return token
}
