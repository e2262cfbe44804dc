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

/**
 * Keeps room on the disk of a store for removals and collections. Where room is scarce a file beside the store holds a
 * reserve; while that is not complete, batches that grow are refused, and those that free may use it.
 */
export class DiskRoom {
  readonly #directory: string
  readonly #reserve: DiskReserve
  readonly #floor: number
  #isScarce = false
  #lookedAt = Number.NEGATIVE_INFINITY

  /** @param floor how much room the engine needs for a small batch. */
  constructor(path: string, floor: number = FLOOR_BYTES) {
    this.#directory = dirname(path)
    this.#reserve = new DiskReserve(path, RESERVE_BYTES)
    this.#floor = floor
  }

  /** Whether the disk had little room at the last look. */
  get isScarce(): boolean {
    return this.#isScarce
  }

  /** Makes room for a batch that frees, out of the reserve if there is no other. Never throws. */
  makeWay(): void {
    try {
      const room = this.#look()
      if (room < this.#floor) this.#reserve.give(this.#floor - room)
    } catch {
      // The home can only be read: then nothing is written.
    }
  }

  /** Called before a commit: ENOSPC for a batch that grows while there is no room for it beside the reserve. */
  admit(batch: Batch): void {
    if (!this.#isScarce && performance.now() - this.#lookedAt < LOOK_MS) return
    if (!isGrowing(batch)) this.makeWay()
    else if (!this.#mayGrow(sizeOf(batch) * GROWTH)) throw diskFull()
  }

  #mayGrow(bytes: number): boolean {
    try {
      return this.#hasRoomFor(bytes)
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
  }

  /** Called when the store is closed: on a disk with room the reserve goes, on another the next process needs it. */
  close(): void {
    try {
      if (this.#look() >= PLENTY_BYTES) this.#reserve.release()
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
    const { missing } = this.#reserve
    // One that is not complete leaves some room: nobody has to cut it again for the next removal.
    const spare = room - this.#floor
    if (missing > 0 && spare > 0) this.#reserve.fill(Math.min(missing, spare))
    return spare - missing >= bytes
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

function diskFull(): VfsError {
  const detail = 'the store could not commit: the disk is full; some of its room is kept for removals'
  return new VfsError('ENOSPC', '/', { op: 'commit', detail })
}
