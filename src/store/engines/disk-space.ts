import { dirname } from 'node:path'
import { VfsError } from '../../vfs/index.ts'
import type { Batch } from '../engine.ts'
import { DiskReserve } from './disk-reserve.ts'
import { getDiskFreeBytes } from './disk-usage.ts'

/** Size of the reserve: enough for a group commit, and then for removals and a collection. */
const RESERVE_BYTES = 8 * 1024 * 1024
/** Above this much free space no reserve is needed. No program writes as much between two checks. */
const AMPLE_BYTES = 128 * 1024 * 1024
const MEASURE_INTERVAL_MS = 20
/** Space for a group commit: its side log, the write-ahead log and the pages it becomes. */
const GROUP_COMMIT_BYTES = 16 * 1024 * 1024
/** Maximum space for a batch that frees space. */
const MIN_FREE_BYTES = 1024 * 1024
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
  #hasGiven = false
  #measuredAt = Number.NEGATIVE_INFINITY

  constructor(path: string, { floor = MIN_FREE_BYTES, rewriting = () => 0 }: DiskSpaceOptions = {}) {
    this.#directory = dirname(path)
    this.#reserve = new DiskReserve(path)
    this.#floor = floor
    this.#rewriting = rewriting
  }

  /** True if the disk was nearly full at the last check. */
  get isScarce(): boolean {
    return this.#isScarce
  }

  /** Makes space for a batch that frees, from the reserve if necessary. Never throws. */
  freeReserve(): void {
    this.#ensureFree(() => this.#floor)
  }

  /** Makes space for a compaction in the same way. */
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
      // The home is read-only: no write follows.
    }
  }

  /** Called before a commit: ENOSPC for a batch that grows without space beside the reserve. */
  assertSpaceFor(batch: Batch, within?: () => number): void {
    if (!this.hasSpaceFor(batch, within)) throw createDiskFullError()
  }

  /**
   * Reports whether there is space for a batch; makes space for one that frees.
   * @param within returns how many bytes the engine can store without more disk space.
   */
  hasSpaceFor(batch: Batch, within: () => number = () => 0): boolean {
    if (!this.#isScarce && performance.now() - this.#measuredAt < MEASURE_INTERVAL_MS) return true
    if (isGrowing(batch)) return this.#canGrow(getBatchSize(batch) * WRITE_AMPLIFICATION, within)
    this.freeReserve()
    return true
  }

  /** Called before content is written beside the store: ENOSPC if the disk lacks space for it beside the reserve. */
  assertSpaceForBytes(bytes: number): void {
    const isRecent = !this.#isScarce && performance.now() - this.#measuredAt < MEASURE_INTERVAL_MS
    if (!isRecent && !this.#canGrow(bytes, () => 0)) throw createDiskFullError()
  }

  #canGrow(bytes: number, within: () => number): boolean {
    try {
      return this.#hasFreeBytes(bytes) || (within() >= bytes && this.#lend(bytes))
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
    this.#hasGiven = true
  }

  /**
   * Called when the store is closed. With enough disk space, removes the reserve; otherwise completes it for the next
   * process, before another program takes the space.
   */
  close(): void {
    try {
      const room = this.#measure()
      if (!this.#isScarce) this.#reserve.remove()
      else if (this.#hasGiven) this.#fill(room - this.#floor)
    } catch {
      // The home was removed, or is read-only.
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
    // An incomplete reserve leaves some space, so that the next removal need not shrink it.
    const spare = room - this.#floor - this.#rewriting()
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

/** Reports whether a batch stores something without freeing more. */
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

/** Creates ENOSPC for a batch that grows without space beside the reserve. */
export function createDiskFullError(): VfsError {
  const detail = 'the store could not commit: the disk is full; some of its room is kept for removals'
  return new VfsError('ENOSPC', '/', { op: 'commit', detail })
}
