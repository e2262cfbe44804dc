import { dirname } from 'node:path'
import { VfsError } from '../../vfs/index.ts'
import type { Batch } from '../engine.ts'
import { DiskReserve } from './disk-reserve.ts'
import { getDiskFreeBytes } from './disk-usage.ts'

/** Size of the reserve: for removals and a collection, or for a group commit whose space another program took. */
const RESERVE_BYTES = 8 * 1024 * 1024
/** Above this much free space no reserve is needed. No program writes as much between two checks. */
const AMPLE_BYTES = 128 * 1024 * 1024
const MEASURE_INTERVAL_MS = 20
/** Space for a group commit: its side log, the write-ahead log and the pages it becomes. */
const GROUP_COMMIT_BYTES = 16 * 1024 * 1024
/** Space that stays free beside the reserve: enough for a small batch, such as one that frees space. */
const DEFAULT_FLOOR_BYTES = 1024 * 1024
/** Disk bytes per byte of a batch: in a log and in the store. */
const WRITE_AMPLIFICATION = 2

export interface DiskSpaceOptions {
  /** Space the engine needs for a small batch. */
  readonly floor?: number
  /**
   * Temporary space of the engine's own compaction. That much stays free beside the reserve, and the reserve includes
   * it as well: another program may take free space.
   */
  readonly rewriting?: () => number
}

/**
 * Reserves disk space for removals and collections. On a nearly full disk, a file beside the store holds the reserve.
 * While it is incomplete, batches that grow are refused; those that free space may use it.
 */
export class DiskSpace {
  readonly #directory: string
  readonly #reserve: DiskReserve
  readonly #floor: number
  readonly #rewriting: () => number
  #isScarce = false
  #hasShrunk = false
  #measuredAt = Number.NEGATIVE_INFINITY

  constructor(path: string, { floor = DEFAULT_FLOOR_BYTES, rewriting = () => 0 }: DiskSpaceOptions = {}) {
    this.#directory = dirname(path)
    this.#reserve = new DiskReserve(path)
    this.#floor = floor
    this.#rewriting = rewriting
  }

  /** True if the disk was nearly full at the last check. */
  get isScarce(): boolean {
    return this.#isScarce
  }

  /** Makes space for a small batch, from the reserve if necessary. Never throws. */
  freeReserve(): void {
    this.#ensureFree(() => this.#floor)
  }

  /** Makes space for a small batch and a compaction in the same way. */
  freeReserveForRewrite(): void {
    this.#ensureFree(() => this.#floor + this.#rewriting())
  }

  #ensureFree(bytes: () => number): void {
    try {
      const lacking = bytes() - this.#measure()
      if (lacking <= 0) return
      this.#reserve.shrinkBy(lacking)
      this.#hasShrunk = true
    } catch {
      // The home is read-only: no write follows.
    }
  }

  /** Called before a commit: ENOSPC for a batch that grows without space beside the reserve. */
  assertSpaceFor(batch: Batch, getReusableBytes?: () => number): void {
    if (!this.hasSpaceFor(batch, getReusableBytes)) throw createDiskFullError()
  }

  /**
   * Reports whether there is space for a batch; makes space for one that frees.
   * @param getReusableBytes returns how many bytes the engine can store without more disk space.
   */
  hasSpaceFor(batch: Batch, getReusableBytes: () => number = () => 0): boolean {
    if (!this.#isScarce && performance.now() - this.#measuredAt < MEASURE_INTERVAL_MS) return true
    if (isGrowing(batch)) return this.#canGrow(getBatchSize(batch) * WRITE_AMPLIFICATION, getReusableBytes)
    this.freeReserve()
    return true
  }

  /** Called before content is written beside the store: ENOSPC if the disk lacks space for it beside the reserve. */
  assertSpaceForBytes(bytes: number): void {
    const isRecent = !this.#isScarce && performance.now() - this.#measuredAt < MEASURE_INTERVAL_MS
    if (!isRecent && !this.#canGrow(bytes, () => 0)) throw createDiskFullError()
  }

  #canGrow(bytes: number, getReusableBytes: () => number): boolean {
    try {
      return this.#hasFreeBytes(bytes) || (getReusableBytes() >= bytes && this.#lend(bytes))
    } catch {
      // The home was removed: the engine reports that itself.
      return true
    }
  }

  /** Reports whether changes may be acknowledged now and committed together some milliseconds later. */
  canGroupCommit(): boolean {
    try {
      return this.#hasFreeBytes(GROUP_COMMIT_BYTES)
    } catch {
      return false
    }
  }

  /** Frees the whole reserve for changes that are already acknowledged. */
  releaseReserve(): void {
    this.#reserve.remove()
    this.#hasShrunk = true
  }

  /**
   * Called when the store is closed. With enough disk space, removes the reserve; otherwise completes it for the next
   * process, before another program takes the space.
   */
  close(): void {
    try {
      const free = this.#measure()
      if (!this.#isScarce) this.#reserve.remove()
      else if (this.#hasShrunk) this.#fill(free - this.#floor)
    } catch {
      // The home was removed, or is read-only.
    }
  }

  /** Returns the free bytes of the disk, and notes whether they are scarce. */
  #measure(): number {
    const free = getDiskFreeBytes(this.#directory)
    this.#isScarce = free < AMPLE_BYTES
    this.#measuredAt = performance.now()
    return free
  }

  /** Reports whether so many bytes are free beside the reserve, which it fills first. */
  #hasFreeBytes(bytes: number): boolean {
    const free = this.#measure()
    if (!this.#isScarce) return true
    // An incomplete reserve leaves some space, so that the next removal need not shrink it.
    const spare = free - this.#floor - this.#rewriting()
    return spare - this.#fill(spare) >= bytes
  }

  /**
   * Lends the reserve to a batch that should fit into free pages, in case the engine still extends its file: LMDB
   * does not survive a write that the disk refuses. Half of the reserve stays for removals.
   */
  #lend(bytes: number): boolean {
    const kept = RESERVE_BYTES - this.#reserve.countMissing(RESERVE_BYTES)
    if (kept - bytes < RESERVE_BYTES / 2) return false
    this.#ensureFree(() => this.#floor + bytes)
    return true
  }

  /** Grows the reserve as far as the disk allows; returns how many bytes it lacked. */
  #fill(spare: number): number {
    const missing = this.#reserve.countMissing(RESERVE_BYTES + this.#rewriting())
    if (missing > 0 && spare > 0) this.#reserve.growBy(Math.min(missing, spare))
    return missing
  }
}

/** Reports whether a batch stores something, and is not marked as one that frees space. */
export function isGrowing({ records = [], pages = [], blobs = [], journal = [], frees }: Batch): boolean {
  if (frees === true) return false
  const isStoring = records.some(({ bytes }) => bytes !== null)
  return isStoring || pages.length > 0 || blobs.length > 0 || journal.length > 0
}

/** Returns the size of all rows that a batch stores. */
export function getBatchSize({ records = [], pages = [], blobs = [], journal = [] }: Batch): number {
  return sumBytes(records) + sumBytes(pages) + sumBytes(blobs) + sumBytes(journal)
}

function sumBytes(rows: readonly { readonly bytes: Uint8Array | null }[]): number {
  return rows.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0)
}

/** Creates ENOSPC for a batch that grows without space beside the reserve. */
export function createDiskFullError(): VfsError {
  const detail = 'the store could not commit: the disk is full; some of its room is kept for removals'
  return new VfsError('ENOSPC', '/', { op: 'commit', detail })
}
