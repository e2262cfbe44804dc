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

/** An entry of an archive. */
export interface ArchiveEntry {
  /** The name as stored in the archive. */
  readonly name: string
  readonly stat: Stat
  /** The target of a symbolic link. */
  readonly target?: string
  /** The name of the entry that this hard link refers to. */
  readonly sameAs?: string
  readonly read?: RangeReader
  /** The reason to reject the entry, if its format shows one. */
  readonly flaw?: string
}

/** A node of the served tree. */
export interface ArchiveNode {
  readonly stat: Stat
  readonly target?: string
  readonly read?: RangeReader
}

/** An entry of an archive that is not served, with the reason. */
export interface SkippedEntry {
  readonly name: string
  readonly reason: string
}

/** Options for an archive that is opened. */
export interface ArchiveOptions {
  /** Called for each rejected entry, which is then skipped. Without it the first one throws EINVAL. */
  readonly onSkipped?: (entry: SkippedEntry) => void
  /**
   * Limits the entries of an archive, including the directories that it implies but does not list; more are EFBIG. A
   * million when absent.
   */
  readonly maxEntries?: number
}

/** Limit of a link target on any system. */
export const MAX_TARGET_BYTES = 4096
const IMPLIED_DIRECTORY: ArchiveNode = {
  stat: { type: 'directory', size: 0, mtime: new Date(0), mode: null },
}

/** The tree of an archive. Parent directories that it does not list are implied. */
export class ArchiveTree {
  readonly #nodes = new Map<string, ArchiveNode>([['/', IMPLIED_DIRECTORY]])
  readonly #names = new Map<string, readonly string[]>()
  /** Content of each hard link by path; undefined for one that leads nowhere. */
  readonly #linkTargets = new Map<string, ArchiveEntry | undefined>()

  /**
   * Builds the tree. Of two entries with one name the later one counts, as in unpacking. EINVAL for a rejected entry without
   * `onSkipped`, EFBIG for too many entries.
   */
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
      const location = flaw === undefined ? locateEntry(entry.name) : { reason: flaw }
      if ('reason' in location) skip(entry.name, location.reason)
      else if (location.path !== '/') listed.set(location.path, entry)
    }
    for (const [path, entry] of listed) {
      const reason = this.#add(path, entry, listed)
      if (reason !== undefined) skip(entry.name, reason)
      // The root is no entry. A deep entry implies many directories.
      if (this.#nodes.size - 1 > maxEntries) throw createTooManyEntriesError(archive, maxEntries)
    }
    this.#listNames()
  }

  get(path: string): ArchiveNode | undefined {
    return this.#nodes.get(path)
  }

  /** Returns the names in a directory, sorted. */
  namesIn(path: string): readonly string[] {
    return this.#names.get(path) ?? []
  }

  /** Adds an entry. Returns the reason if it is rejected. */
  #add(path: string, entry: ArchiveEntry, listed: ReadonlyMap<string, ArchiveEntry>): string | undefined {
    const above = ancestors(path).filter((directory) => directory !== '/')
    const fileAbove = above.find(
      (directory) => (listed.get(directory)?.stat.type ?? 'directory') !== 'directory',
    )
    if (fileAbove !== undefined)
      return `'${fileAbove.slice(1)}' above it is a ${listed.get(fileAbove)?.stat.type}`
    const content = entry.sameAs === undefined ? entry : this.#findLinkedEntry(path, listed)
    if (content === undefined) return `the target '${entry.sameAs}' of the hard link is missing`
    for (const directory of above)
      if (!this.#nodes.has(directory)) this.#nodes.set(directory, IMPLIED_DIRECTORY)
    const { stat, target, read } = content
    this.#nodes.set(path, {
      stat,
      ...(target !== undefined && { target }),
      ...(read !== undefined && { read }),
    })
    return undefined
  }

  /** Resolves a hard link, possibly through others. Each is resolved once, and a cycle resolves to nothing. */
  #findLinkedEntry(path: string, listed: ReadonlyMap<string, ArchiveEntry>): ArchiveEntry | undefined {
    const visited: string[] = []
    let current: string | undefined = path
    let found: ArchiveEntry | undefined
    while (current !== undefined && !this.#linkTargets.has(current)) {
      this.#linkTargets.set(current, undefined)
      visited.push(current)
      found = listed.get(current)
      const location = found?.sameAs === undefined ? undefined : locateEntry(found.sameAs)
      current = location !== undefined && 'path' in location ? location.path : undefined
    }
    const content: ArchiveEntry | undefined = current === undefined ? found : this.#linkTargets.get(current)
    const isContent = content?.sameAs === undefined && content?.stat.type !== 'directory'
    for (const path of visited) this.#linkTargets.set(path, isContent ? content : undefined)
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
  if (target === '') return 'the link has no target'
  if (Buffer.byteLength(target) > MAX_TARGET_BYTES) return 'the target of the link is too long'
  try {
    assertLinkTarget(target)
    return undefined
  } catch (error) {
    if (!isVfsError(error)) throw error
    return `the target of the link cannot be stored: ${error.detail}`
  }
}

function createEntryError(archive: string, name: string, reason: string): VfsError {
  const detail = `the entry '${name}' is rejected: ${reason}; pass onSkipped to skip such entries`
  return new VfsError('EINVAL', archive, { op: 'open', detail })
}
