import { dirname } from 'node:path'
import { VfsError } from '../../vfs/index.ts'
import type { Batch } from '../engine.ts'
import { DiskReserve } from './disk-reserve.ts'
import { getDiskFreeBytes } from './disk-usage.ts'

/** The size of the reserve: enough for a group commit, and after it for removals and a collection. */
const RESERVE_BYTES = 8 * 1024 * 1024
/** A disk with more room than this needs no reserve yet. No program writes so much between two looks. */
const AMPLE_BYTES = 128 * 1024 * 1024
const MEASURE_INTERVAL_MS = 20
/** Room for a group commit: its side log, the write-ahead log and the pages it becomes. */
const GROUP_COMMIT_BYTES = 16 * 1024 * 1024
/** Room that a batch which frees something needs at most. */
const MIN_FREE_BYTES = 1024 * 1024
/** How much of the disk a batch may take for each of its bytes: in a log and in the store. */
const WRITE_AMPLIFICATION = 2

export interface DiskSpaceOptions {
  /** How much room the engine needs for a small batch. */
  readonly floor?: number
  /**
   * How much room the engine takes for a while to rewrite what it has, of its own accord. That much stays free beside
   * the reserve, and the reserve has it as well: another program may take what is free.
   */
  readonly rewriting?: () => number
}

/**
 * Keeps room on the disk of a store for removals and collections. Where room is scarce a file beside the store holds a
 * reserve; while that is not complete, batches that grow are refused, and those that free may use it.
 */
export class DiskSpace {
  readonly #directory: string
  readonly #reserve: DiskReserve
  readonly #floor: number
  readonly #rewriting: () => number
  #isScarce = false
  #hasGiven = false
  #measuredAt = Number.NEGATIVE_INFINITY

  constructor(path: string, { floor = MIN_FREE_BYTES, rewriting = () => 0 }: DiskSpaceOptions = {}) {
    this.#directory = dirname(path)
    this.#reserve = new DiskReserve(path)
    this.#floor = floor
    this.#rewriting = rewriting
  }

  /** Whether the disk had little room at the last look. */
  get isScarce(): boolean {
    return this.#isScarce
  }

  /** Makes room for a batch that frees, out of the reserve if there is no other. Never throws. */
  freeReserve(): void {
    this.#ensureFree(() => this.#floor)
  }

  /** The same for an engine that is about to rewrite what it has. */
  freeReserveForRewrite(): void {
    this.#ensureFree(() => this.#floor + this.#rewriting())
  }

  #ensureFree(bytes: () => number): void {
    try {
      const lacking = bytes() - this.#measure()
      if (lacking <= 0) return
      this.#reserve.shrinkBy(lacking)
      this.#hasGiven = true
    } catch {
      // The home can only be read: then nothing is written.
    }
  }

  /** Called before a commit: ENOSPC for a batch that grows while there is no room for it beside the reserve. */
  assertSpaceFor(batch: Batch, within?: () => number): void {
    if (!this.hasSpaceFor(batch, within)) throw createDiskFullError()
  }

  /**
   * Whether there is room for a batch; for one that frees it is made.
   * @param within how much an engine can store without more room on the disk.
   */
  hasSpaceFor(batch: Batch, within: () => number = () => 0): boolean {
    if (!this.#isScarce && performance.now() - this.#measuredAt < MEASURE_INTERVAL_MS) return true
    if (isGrowing(batch)) return this.#canGrow(getBatchSize(batch) * WRITE_AMPLIFICATION, within)
    this.freeReserve()
    return true
  }

  #canGrow(bytes: number, within: () => number): boolean {
    try {
      return this.#hasFreeBytes(bytes) || (within() >= bytes && this.#lend(bytes))
    } catch {
      // The home was removed: the engine names that itself.
      return true
    }
  }

  /** Whether changes may be acknowledged now and committed together some milliseconds later. */
  canGroupCommit(): boolean {
    try {
      return this.#hasFreeBytes(GROUP_COMMIT_BYTES)
    } catch {
      return false
    }
  }

  /** Gives the whole reserve to what was acknowledged already. */
  releaseReserve(): void {
    this.#reserve.remove()
    this.#hasGiven = true
  }

  /**
   * Called when the store is closed: on a disk with room the reserve goes, on another the next process needs it, and
   * gets what this one did not need of it before another program takes that.
   */
  close(): void {
    try {
      const room = this.#measure()
      if (!this.#isScarce) this.#reserve.remove()
      else if (this.#hasGiven) this.#fill(room - this.#floor)
    } catch {
      // The home was removed, or can only be read.
    }
  }

  #measure(): number {
    const room = getDiskFreeBytes(this.#directory)
    this.#isScarce = room < AMPLE_BYTES
    this.#measuredAt = performance.now()
    return room
  }

  #hasFreeBytes(bytes: number): boolean {
    const room = this.#measure()
    if (!this.#isScarce) return true
    // One that is not complete leaves some room: nobody has to cut it again for the next removal.
    const spare = room - this.#floor - this.#rewriting()
    return spare - this.#fill(spare) >= bytes
  }

  /**
   * Lends the reserve to a batch that should fit into free pages, in case the engine extends its file all the same: LMDB
   * does not survive a write that the disk refuses. Half of the reserve stays for removals.
   */
  #lend(bytes: number): boolean {
    const kept = RESERVE_BYTES - this.#reserve.countMissing(RESERVE_BYTES)
    if (kept - bytes < RESERVE_BYTES / 2) return false
    this.#ensureFree(() => this.#floor + bytes)
    return true
  }

  /** Completes the reserve as far as there is room for it; how many bytes it lacked. */
  #fill(spare: number): number {
    const missing = this.#reserve.countMissing(RESERVE_BYTES + this.#rewriting())
    if (missing > 0 && spare > 0) this.#reserve.growBy(Math.min(missing, spare))
    return missing
  }
}

/** Whether a batch stores something, and is not one that frees more by it. */
export function isGrowing({ records = [], pages = [], blobs = [], journal = [], frees }: Batch): boolean {
  if (frees === true) return false
  const isStoring = records.some(({ bytes }) => bytes !== null)
  return isStoring || pages.length > 0 || blobs.length > 0 || journal.length > 0
}

function getBatchSize({ records = [], pages = [], blobs = [], journal = [] }: Batch): number {
  return [...records, ...pages, ...blobs, ...journal].reduce(
    (sum, { bytes }) => sum + (bytes?.length ?? 0),
    0,
  )
}

/** Refuses a batch that grows: there is no room for it beside what is kept. */
export function createDiskFullError(): VfsError {
  const detail = 'the store could not commit: the disk is full; some of its room is kept for removals'
  return new VfsError('ENOSPC', '/', { op: 'commit', detail })
}
