import {
  ancestors,
  assertLinkTarget,
  basename,
  dirname,
  isVfsError,
  type RangeReader,
  type Stat,
  VfsError,
} from '../../vfs/index.ts'
import { createTooManyEntriesError, MAX_ENTRIES } from './listing-limit.ts'
import { locateEntry } from './locate-entry.ts'

/** Something an archive lists. */
export interface ArchiveEntry {
  /** As the archive has it. */
  readonly name: string
  readonly stat: Stat
  /** Of a symbolic link. */
  readonly target?: string
  /** The name of the entry this one is another name of. */
  readonly sameAs?: string
  readonly read?: RangeReader
  /** Reason to refuse the entry, if its format alone shows one. */
  readonly flaw?: string
}

/** What is served at a path. */
export interface ArchiveNode {
  readonly stat: Stat
  readonly target?: string
  readonly read?: RangeReader
}

export interface SkippedEntry {
  readonly name: string
  readonly reason: string
}

export interface ArchiveOptions {
  /**
   * Called for each entry that has no place in the tree, which is then omitted. Without it the first one is EINVAL.
   */
  readonly onSkipped?: (entry: SkippedEntry) => void
  /**
   * Limits the entries that an archive may list, with the directories that it implies and does not list; more are
   * EFBIG. A million when absent.
   */
  readonly maxEntries?: number
}

/** No longer target can be followed on any system. */
export const MAX_TARGET_BYTES = 4096
const IMPLIED_DIRECTORY: ArchiveNode = {
  stat: { type: 'directory', size: 0, mtime: new Date(0), mode: null },
}

/** What an archive holds, by path. Directories it does not list are there as soon as something lies in them. */
export class ArchiveTree {
  readonly #nodes = new Map<string, ArchiveNode>([['/', IMPLIED_DIRECTORY]])
  readonly #names = new Map<string, readonly string[]>()
  /** Where names that were followed lead. */
  readonly #linkTargets = new Map<string, ArchiveEntry | undefined>()

  /** Of two entries with one name the later counts, as when it is unpacked. */
  constructor(
    entries: Iterable<ArchiveEntry>,
    archive: string,
    { onSkipped, maxEntries = MAX_ENTRIES }: ArchiveOptions,
  ) {
    const skip = (name: string, reason: string) => {
      if (onSkipped === undefined) throw createEntryError(archive, name, reason)
      onSkipped({ name, reason })
    }
    const listed = new Map<string, ArchiveEntry>()
    for (const entry of entries) {
      const flaw = entry.flaw ?? findTargetFlaw(entry.target)
      const place = flaw === undefined ? locateEntry(entry.name) : { reason: flaw }
      if ('reason' in place) skip(entry.name, place.reason)
      else if (place.path !== '/') listed.set(place.path, entry)
    }
    for (const [path, entry] of listed) {
      const reason = this.#add(path, entry, listed)
      if (reason !== undefined) skip(entry.name, reason)
      // The root is no entry. One entry may imply as many directories as it lies deep.
      if (this.#nodes.size - 1 > maxEntries) throw createTooManyEntriesError(archive, maxEntries)
    }
    this.#listNames()
  }

  get(path: string): ArchiveNode | undefined {
    return this.#nodes.get(path)
  }

  /** The names in a directory, sorted. */
  namesIn(path: string): readonly string[] {
    return this.#names.get(path) ?? []
  }

  /** Why an entry cannot be served; undefined if it is. */
  #add(path: string, entry: ArchiveEntry, listed: ReadonlyMap<string, ArchiveEntry>): string | undefined {
    const above = ancestors(path).filter((at) => at !== '/')
    const blocking = above.find((at) => (listed.get(at)?.stat.type ?? 'directory') !== 'directory')
    if (blocking !== undefined)
      return `it lies below '${blocking.slice(1)}', which is a ${listed.get(blocking)?.stat.type}`
    const content = entry.sameAs === undefined ? entry : this.#findLinkedEntry(path, listed)
    if (content === undefined) return `it is another name of '${entry.sameAs}', which is missing`
    for (const at of above) if (!this.#nodes.has(at)) this.#nodes.set(at, IMPLIED_DIRECTORY)
    const { stat, target, read } = content
    this.#nodes.set(path, {
      stat,
      ...(target !== undefined && { target }),
      ...(read !== undefined && { read }),
    })
    return undefined
  }

  /** The entry a hard link leads to. One may lead to another; each is followed once, and a circle leads nowhere. */
  #findLinkedEntry(path: string, listed: ReadonlyMap<string, ArchiveEntry>): ArchiveEntry | undefined {
    const way: string[] = []
    let at: string | undefined = path
    let found: ArchiveEntry | undefined
    while (at !== undefined && !this.#linkTargets.has(at)) {
      this.#linkTargets.set(at, undefined)
      way.push(at)
      found = listed.get(at)
      const place = found?.sameAs === undefined ? undefined : locateEntry(found.sameAs)
      at = place !== undefined && 'path' in place ? place.path : undefined
    }
    const content: ArchiveEntry | undefined = at === undefined ? found : this.#linkTargets.get(at)
    const isContent = content?.sameAs === undefined && content?.stat.type !== 'directory'
    for (const one of way) this.#linkTargets.set(one, isContent ? content : undefined)
    return this.#linkTargets.get(path)
  }

  #listNames(): void {
    const names = new Map<string, string[]>()
    for (const path of this.#nodes.keys()) {
      if (path === '/') continue
      const siblings = names.get(dirname(path))
      if (siblings === undefined) names.set(dirname(path), [basename(path)])
      else siblings.push(basename(path))
    }
    for (const [path, unsorted] of names) this.#names.set(path, unsorted.sort())
  }
}

/** Returns the reason why a link target is refused, or undefined. */
function findTargetFlaw(target: string | undefined): string | undefined {
  if (target === undefined) return undefined
  if (target === '') return 'it is a link without a target'
  if (Buffer.byteLength(target) > MAX_TARGET_BYTES) return 'it is a link whose target is too long'
  try {
    assertLinkTarget(target)
    return undefined
  } catch (error) {
    if (!isVfsError(error)) throw error
    return `it is a link whose target cannot be stored: ${error.detail}`
  }
}

function createEntryError(archive: string, name: string, reason: string): VfsError {
  const detail = `the entry '${name}' is refused: ${reason}; pass onSkipped to leave such entries out`
  return new VfsError('EINVAL', archive, { op: 'open', detail })
}
