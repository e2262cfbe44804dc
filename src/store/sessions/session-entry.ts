import { hasExited, parseProcessTag } from '../../machine/index.ts'
import type { SessionRegistryEntry } from './session-registry.ts'

/** Entry of a session in the registry. */
export interface SessionEntry {
  /** True if it may hold more than this entry lists: then a collection has to query it. */
  readonly isBusy: boolean
  /** Collections it has answered: the entry lists everything it held when they asked. */
  readonly answered: readonly string[]
  /** Pages that lead to everything it holds. */
  readonly roots: readonly number[]
  readonly blobs: readonly number[]
  /** Number of streams it is storing before anything refers to them. */
  readonly uploads: number
}

/** Everything a session holds, for reads and writes. */
export type HeldItems = Pick<SessionEntry, 'roots' | 'blobs' | 'uploads'>

/** A tree or upload in use that no record may name any more. */
export interface Holdable {
  /**
   * Returns the highest stored pages, which lead to everything stored of it. If the session is busy, includes trees
   * that a read may be about to open.
   */
  listStoredRoots?(isBusy: boolean): readonly number[]
  /** Returns the blobs of it to which those pages do not lead, also of trees that a read may be about to open. */
  listStoredBlobs?(isBusy: boolean): readonly number[]
  /** True for content that nothing refers to yet. */
  readonly isUpload?: boolean
}

/** Prefix of a collection's id in the registry. */
const COLLECTION_PREFIX = 'gc-'

export function toCollectionId(processTag: string): string {
  return COLLECTION_PREFIX + processTag
}

export function isCollection(id: string): boolean {
  return id.startsWith(COLLECTION_PREFIX)
}

/** Collects everything held, each once. */
export function collectHeldItems(held: Iterable<Holdable>, isBusy: boolean): HeldItems {
  const [roots, blobs] = [new Set<number>(), new Set<number>()]
  let uploads = 0
  for (const each of held) {
    for (const root of each.listStoredRoots?.(isBusy) ?? []) roots.add(root)
    for (const blob of each.listStoredBlobs?.(isBusy) ?? []) blobs.add(blob)
    if (each.isUpload) uploads++
  }
  return { roots: [...roots], blobs: [...blobs], uploads }
}

export function holdsNothing({ roots, blobs, uploads }: HeldItems): boolean {
  return roots.length + blobs.length + uploads === 0
}

/** Reports whether an entry's process has ended, or is unknown here and silent for longer than its lease. */
export function isAbandoned({ id, time }: SessionRegistryEntry, now: number, leaseMs: number): boolean {
  const owner = parseProcessTag(isCollection(id) ? id.slice(COLLECTION_PREFIX.length) : id)
  const isEnded = owner && hasExited(owner)
  return isEnded ?? now - time > leaseMs
}

/** Parses an entry; undefined if it is no JSON, as that of a collection. */
export function parseSessionEntry({ text }: SessionRegistryEntry): SessionEntry | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
