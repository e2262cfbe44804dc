import {
  type Answer,
  type EngineReader,
  Files,
  type Hold,
  type NamedEntry,
  statOf,
  type Tree,
  type TreeValue,
} from '../../store/index.ts'
import { child, type DirEntry, ReadyStream, type WalkEntry, type WalkOptions } from '../../vfs/index.ts'

/** How many names are taken from a directory at once: enough to be quick, few enough to hold. */
const NAMES_AT_ONCE = 512

/** A tree of files that does not change meanwhile, and the reader that fetches what is far away. */
export interface Snapshot {
  readonly files: Files
  readonly reader: EngineReader
  /** Keeps its pages until the stream is at its end. */
  readonly hold: Hold
}

/** A snapshot of files, kept from collection. The session has to be entered before the files are read. */
export function takeSnapshot(tree: Tree<TreeValue>, reader: EngineReader): Snapshot {
  return { files: new Files(tree), reader, hold: reader.session.hold(tree) }
}

/** The names in a directory, in order. */
export function listDirectory(snapshot: Snapshot, directory: number): ReadyStream<DirEntry> {
  const listing = new Listing(snapshot, directory)
  const told = (entry: NamedEntry | undefined) => {
    if (entry !== undefined) return { name: entry.name, type: entry.type }
    snapshot.hold.release()
  }
  return new ReadyStream(() => {
    const entry = listing.next()
    return entry instanceof Promise ? entry.then(told) : told(entry)
  })
}

/** Depth first, without recursion, so deep trees are fine. */
export function walkFiles(
  snapshot: Snapshot,
  root: string,
  start: number,
  options: WalkOptions,
): ReadyStream<WalkEntry> {
  const walk = new Walk(snapshot, root, start, options)
  return new ReadyStream(() => walk.next())
}

class Walk {
  readonly #snapshot: Snapshot
  readonly #maxDepth: number
  readonly #includeDirs: boolean
  readonly #levels: { readonly path: string; readonly listing: Listing }[]

  constructor(
    snapshot: Snapshot,
    root: string,
    start: number,
    { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
  ) {
    this.#snapshot = snapshot
    this.#maxDepth = maxDepth
    this.#includeDirs = includeDirs
    this.#levels = maxDepth < 1 ? [] : [{ path: root, listing: new Listing(snapshot, start) }]
  }

  next(): Answer<WalkEntry | undefined> {
    for (let level = this.#levels.at(-1); level; level = this.#levels.at(-1)) {
      const entry = level.listing.next()
      if (entry instanceof Promise) return entry.then((found) => this.#take(found) ?? this.next())
      const told = this.#take(entry)
      if (told !== undefined) return told
    }
    this.#snapshot.hold.release()
    return undefined
  }

  /** What a name adds to the walk; undefined if nothing, and the walk goes on. */
  #take(entry: NamedEntry | undefined): Answer<WalkEntry> | undefined {
    const level = this.#levels.at(-1)
    if (entry === undefined || level === undefined) {
      this.#levels.pop()
      return undefined
    }
    const path = child(level.path, entry.name)
    const isDirectory = entry.type === 'directory'
    if (isDirectory && this.#levels.length < this.#maxDepth)
      this.#levels.push({ path, listing: new Listing(this.#snapshot, entry.inode) })
    if (isDirectory && !this.#includeDirs) return undefined
    const { files, reader } = this.#snapshot
    return reader.resolve(() => ({ path, stat: statOf(files.inode(entry.inode)) }))
  }
}

/** The names of one directory, taken some at a time. */
class Listing {
  readonly #snapshot: Snapshot
  readonly #directory: number
  #names: readonly NamedEntry[] = []
  #at = 0
  #isDone = false

  constructor(snapshot: Snapshot, directory: number) {
    this.#snapshot = snapshot
    this.#directory = directory
  }

  next(): Answer<NamedEntry | undefined> {
    const entry = this.#names[this.#at++]
    if (entry !== undefined || this.#isDone) return entry
    const { files, reader } = this.#snapshot
    const last = this.#names.at(-1)?.name
    const names = reader.resolve(() => files.namesAfter(this.#directory, last, NAMES_AT_ONCE))
    return names instanceof Promise ? names.then((found) => this.#refill(found)) : this.#refill(names)
  }

  #refill(names: readonly NamedEntry[]): NamedEntry | undefined {
    this.#names = names
    this.#at = 1
    this.#isDone = names.length < NAMES_AT_ONCE
    return names[0]
  }
}
