import { ancestors, basename, dirname, type RangeReader, type Stat, VfsError } from '../../vfs/index.ts'
import { entryPlace } from './entry-path.ts'

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
  /** Why it has no place, if its format alone tells. */
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
  /** Told of each entry that has no place in the tree, which is then left out. Without it the first one is EINVAL. */
  readonly onSkipped?: (entry: SkippedEntry) => void
}

const DIRECTORY: ArchiveNode = { stat: { type: 'directory', size: 0, mtime: new Date(0), mode: null } }

/** What an archive holds, by path. Directories it does not list are there as soon as something lies in them. */
export class ArchiveTree {
  readonly #nodes = new Map<string, ArchiveNode>([['/', DIRECTORY]])
  readonly #names = new Map<string, readonly string[]>()

  /** Of two entries with one name the later counts, as when it is unpacked. */
  constructor(entries: Iterable<ArchiveEntry>, archive: string, { onSkipped }: ArchiveOptions) {
    const skip = (name: string, reason: string) => {
      if (onSkipped === undefined) throw refused(archive, name, reason)
      onSkipped({ name, reason })
    }
    const listed = new Map<string, ArchiveEntry>()
    for (const entry of entries) {
      const place = entry.flaw === undefined ? entryPlace(entry.name) : { reason: entry.flaw }
      if ('reason' in place) skip(entry.name, place.reason)
      else if (place.path !== '/') listed.set(place.path, entry)
    }
    for (const [path, entry] of listed) {
      const reason = this.#add(path, entry, listed)
      if (reason !== undefined) skip(entry.name, reason)
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
    const content = entry.sameAs === undefined ? entry : contentOf(entry.sameAs, listed)
    if (content === undefined) return `it is another name of '${entry.sameAs}', which is missing`
    for (const at of above) if (!this.#nodes.has(at)) this.#nodes.set(at, DIRECTORY)
    const { stat, target, read } = content
    this.#nodes.set(path, {
      stat,
      ...(target !== undefined && { target }),
      ...(read !== undefined && { read }),
    })
    return undefined
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

/** The entry a hard link leads to. One may lead to another, and none around in a circle for ever. */
function contentOf(name: string, listed: ReadonlyMap<string, ArchiveEntry>): ArchiveEntry | undefined {
  let next: string | undefined = name
  for (let hops = 0; next !== undefined && hops <= listed.size; hops++) {
    const place = entryPlace(next)
    const entry = 'path' in place ? listed.get(place.path) : undefined
    if (entry?.sameAs === undefined) return entry?.stat.type === 'directory' ? undefined : entry
    next = entry.sameAs
  }
  return undefined
}

function refused(archive: string, name: string, reason: string): VfsError {
  const detail = `the entry '${name}' is refused: ${reason}; pass onSkipped to leave such entries out`
  return new VfsError('EINVAL', archive, { op: 'open', detail })
}
