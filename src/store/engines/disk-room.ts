import { dirname } from 'node:path'
import { VfsError } from '../../vfs/index.ts'
import type { Batch } from '../engine.ts'
import { roomLeft } from './directory-size.ts'
import { DiskReserve } from './disk-reserve.ts'

/** The size of the reserve: enough for a group commit, and after it for removals and a collection. */
const RESERVE_BYTES = 8 * 1024 * 1024
/** A disk with more room than this needs no reserve yet. No program writes so much between two looks. */
const PLENTY_BYTES = 128 * 1024 * 1024
const LOOK_MS = 20
/** Room for a group commit: its side log, the write-ahead log and the pages it becomes. */
const GROUP_BYTES = 16 * 1024 * 1024
/** Room that a batch which frees something needs at most. */
const FLOOR_BYTES = 1024 * 1024
/** How much of the disk a batch may take for each of its bytes: in a log and in the store. */
const GROWTH = 2

export interface DiskRoomOptions {
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
export class DiskRoom {
  readonly #directory: string
  readonly #reserve: DiskReserve
  readonly #floor: number
  readonly #rewriting: () => number
  #isScarce = false
  #hasGiven = false
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(path: string, { floor = FLOOR_BYTES, rewriting = () => 0 }: DiskRoomOptions = {}) {
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
  makeWay(): void {
    this.#leave(() => this.#floor)
  }

  /** The same for an engine that is about to rewrite what it has. */
  makeWayToRewrite(): void {
    this.#leave(() => this.#floor + this.#rewriting())
  }

  #leave(bytes: () => number): void {
    try {
      const lacking = bytes() - this.#look()
      if (lacking <= 0) return
      this.#reserve.give(lacking)
      this.#hasGiven = true
    } catch {
      // The home can only be read: then nothing is written.
    }
  }

  /** Called before a commit: ENOSPC for a batch that grows while there is no room for it beside the reserve. */
  admit(batch: Batch, within?: () => number): void {
    if (!this.admits(batch, within)) throw diskFull()
  }

  /**
   * Whether there is room for a batch; for one that frees it is made.
   * @param within how much an engine can store without more room on the disk.
   */
  admits(batch: Batch, within: () => number = () => 0): boolean {
    if (!this.#isScarce && performance.now() - this.#lookedAt < LOOK_MS) return true
    if (isGrowing(batch)) return this.#mayGrow(sizeOf(batch) * GROWTH, within)
    this.makeWay()
    return true
  }

  #mayGrow(bytes: number, within: () => number): boolean {
    try {
      return this.#hasRoomFor(bytes) || within() >= bytes
    } catch {
      // The home was removed: the engine names that itself.
      return true
    }
  }

  /** Whether changes may be acknowledged now and committed together some milliseconds later. */
  canGroup(): boolean {
    try {
      return this.#hasRoomFor(GROUP_BYTES)
    } catch {
      return false
    }
  }

  /** Gives the whole reserve to what was acknowledged already. */
  release(): void {
    this.#reserve.release()
    this.#hasGiven = true
  }

  /**
   * Called when the store is closed: on a disk with room the reserve goes, on another the next process needs it, and
   * gets what this one did not need of it before another program takes that.
   */
  close(): void {
    try {
      const room = this.#look()
      if (!this.#isScarce) this.#reserve.release()
      else if (this.#hasGiven) this.#fill(room - this.#floor)
    } catch {
      // The home was removed, or can only be read.
    }
  }

  #look(): number {
    const room = roomLeft(this.#directory)
    this.#isScarce = room < PLENTY_BYTES
    this.#lookedAt = performance.now()
    return room
  }

  #hasRoomFor(bytes: number): boolean {
    const room = this.#look()
    if (!this.#isScarce) return true
    // One that is not complete leaves some room: nobody has to cut it again for the next removal.
    const spare = room - this.#floor - this.#rewriting()
    return spare - this.#fill(spare) >= bytes
  }

  /** Completes the reserve as far as there is room for it; how many bytes it lacked. */
  #fill(spare: number): number {
    const missing = this.#reserve.missing(RESERVE_BYTES + this.#rewriting())
    if (missing > 0 && spare > 0) this.#reserve.fill(Math.min(missing, spare))
    return missing
  }
}

/** Whether a batch stores something, and is not one that frees more by it. */
export function isGrowing({ records = [], pages = [], blobs = [], journal = [], frees }: Batch): boolean {
  if (frees === true) return false
  const isStoring = records.some(({ bytes }) => bytes !== null)
  return isStoring || pages.length > 0 || blobs.length > 0 || journal.length > 0
}

function sizeOf({ records = [], pages = [], blobs = [], journal = [] }: Batch): number {
  return [...records, ...pages, ...blobs, ...journal].reduce(
    (sum, { bytes }) => sum + (bytes?.length ?? 0),
    0,
  )
}

/** Refuses a batch that grows: there is no room for it beside what is kept. */
export function diskFull(): VfsError {
  const detail = 'the store could not commit: the disk is full; some of its room is kept for removals'
  return new VfsError('ENOSPC', '/', { op: 'commit', detail })
}
