import { isOver, makerOf } from '../../machine/index.ts'
import type { BoardEntry } from './session-board.ts'

/** What a session shows on the board. */
export interface SessionEntry {
  /** Whether it may hold more than is listed here: then a collection has to ask. */
  readonly isBusy: boolean
  /** The collections it has answered: all it held when they asked is listed. */
  readonly answered: readonly string[]
  /** Pages that lead to everything it holds. */
  readonly roots: readonly number[]
  readonly blobs: readonly number[]
  /** Streams it is storing before anything refers to them. */
  readonly uploads: number
}

/** What a session holds, by whatever is read or written. */
export type HeldItems = Pick<SessionEntry, 'roots' | 'blobs' | 'uploads'>

/** What somebody reads that no record may name any more. */
export interface Held {
  /**
   * The highest stored pages of it: together they lead to everything of it that is stored. While the session is busy,
   * what somebody may be about to read counts as well.
   */
  storedRoots?(isBusy: boolean): readonly number[]
  storedBlobs?(): readonly number[]
  /** Content that nothing refers to yet. */
  readonly isUpload?: boolean
}

/** What a collection calls itself on the board. */
const COLLECTION = 'gc-'

export function collectionId(mark: string): string {
  return COLLECTION + mark
}

export function isCollection(id: string): boolean {
  return id.startsWith(COLLECTION)
}

/** Everything that some hold, each once. */
export function listHeld(held: Iterable<Held>, isBusy: boolean): HeldItems {
  const [roots, blobs] = [new Set<number>(), new Set<number>()]
  let uploads = 0
  for (const each of held) {
    for (const root of each.storedRoots?.(isBusy) ?? []) roots.add(root)
    for (const blob of each.storedBlobs?.() ?? []) blobs.add(blob)
    if (each.isUpload) uploads++
  }
  return { roots: [...roots], blobs: [...blobs], uploads }
}

export function isNothing({ roots, blobs, uploads }: HeldItems): boolean {
  return roots.length + blobs.length + uploads === 0
}

/** Whether whoever posted an entry is gone: its process is over, or unknown here and silent for longer than its lease. */
export function isAbandoned({ id, time }: BoardEntry, now: number, leaseMs: number): boolean {
  const maker = makerOf(isCollection(id) ? id.slice(COLLECTION.length) : id)
  const over = maker && isOver(maker)
  return over ?? now - time > leaseMs
}

/** What a session says; undefined if it is nothing we know. */
export function parseSessionEntry({ text }: BoardEntry): SessionEntry | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
