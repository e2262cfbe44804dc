import { hasExited, parseProcessTag } from '../../machine/index.ts'
import type { SessionRegistryEntry } from './session-registry.ts'

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
export interface Holdable {
  /**
   * The highest stored pages of it: together they lead to everything of it that is stored. While the session is busy,
   * what somebody may be about to read counts as well.
   */
  listStoredRoots?(isBusy: boolean): readonly number[]
  listStoredBlobs?(): readonly number[]
  /** Content that nothing refers to yet. */
  readonly isUpload?: boolean
}

/** What a collection calls itself on the board. */
const COLLECTION_PREFIX = 'gc-'

export function toCollectionId(mark: string): string {
  return COLLECTION_PREFIX + mark
}

export function isCollection(id: string): boolean {
  return id.startsWith(COLLECTION_PREFIX)
}

/** Everything that some hold, each once. */
export function collectHeldItems(held: Iterable<Holdable>, isBusy: boolean): HeldItems {
  const [roots, blobs] = [new Set<number>(), new Set<number>()]
  let uploads = 0
  for (const each of held) {
    for (const root of each.listStoredRoots?.(isBusy) ?? []) roots.add(root)
    for (const blob of each.listStoredBlobs?.() ?? []) blobs.add(blob)
    if (each.isUpload) uploads++
  }
  return { roots: [...roots], blobs: [...blobs], uploads }
}

export function holdsNothing({ roots, blobs, uploads }: HeldItems): boolean {
  return roots.length + blobs.length + uploads === 0
}

/** Whether whoever posted an entry is gone: its process is over, or unknown here and silent for longer than its lease. */
export function isAbandoned({ id, time }: SessionRegistryEntry, now: number, leaseMs: number): boolean {
  const maker = parseProcessTag(isCollection(id) ? id.slice(COLLECTION_PREFIX.length) : id)
  const over = maker && hasExited(maker)
  return over ?? now - time > leaseMs
}

/** What a session says; undefined if it is nothing we know. */
export function parseSessionEntry({ text }: SessionRegistryEntry): SessionEntry | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
