import {
  type EngineReader,
  type Hold,
  type MaybePromise,
  type NamedEntry,
  type Tree,
  type TreeValue,
  toStat,
  VaultFiles,
} from '../../store/index.ts'
import { child, type DirEntry, ReadyStream, type WalkEntry, type WalkOptions } from '../../vfs/index.ts'

/** Number of names read from a directory at once. */
const NAMES_PER_BATCH = 512

/** An immutable tree of files, with the reader for remote pages. */
export interface FilesSnapshot {
  readonly files: VaultFiles
  readonly reader: EngineReader
  /** Protects its pages until the stream ends or is unreachable. */
  readonly hold: Hold
}

/** Takes a snapshot and protects it from collection. Call `beginRead` of the session before the files are read. */
export function takeSnapshot(tree: Tree<TreeValue>, reader: EngineReader): FilesSnapshot {
  return { files: new VaultFiles(tree), reader, hold: reader.session.hold(tree) }
}

/**
 * Lists a directory that one read returns whole; undefined for a larger one. It needs no snapshot, with which the next
 * write would have to copy nodes.
 */
export function listSmallDirectory(files: VaultFiles, directory: number): ReadyStream<DirEntry> | undefined {
  const entries = files.mapEntriesAfter(directory, undefined, NAMES_PER_BATCH, toDirEntry)
  return entries.length < NAMES_PER_BATCH ? ReadyStream.of(entries) : undefined
}

/** Lists a directory of any size in the order of names. */
export function listDirectory(snapshot: FilesSnapshot, directory: number): ReadyStream<DirEntry> {
  const listing = new DirectoryReader(snapshot, directory)
  const toItem = (entry: NamedEntry | undefined) => {
    if (entry !== undefined) return toDirEntry(entry.name, entry)
    snapshot.hold.release()
  }
  return new ReadyStream(() => {
    const entry = listing.next()
    return entry instanceof Promise ? entry.then(toItem) : toItem(entry)
  })
}

function toDirEntry(name: string, { type }: Pick<DirEntry, 'type'>): DirEntry {
  return { name, type }
}

/** Walks depth first without recursion, so deep trees are fine. */
export function walkFiles(
  snapshot: FilesSnapshot,
  root: string,
  start: number,
  options: WalkOptions,
): ReadyStream<WalkEntry> {
  const walk = new FilesWalk(snapshot, root, start, options)
  return new ReadyStream(() => walk.next())
}

class FilesWalk {
  readonly #snapshot: FilesSnapshot
  readonly #maxDepth: number
  readonly #includeDirs: boolean
  readonly #levels: { readonly path: string; readonly listing: DirectoryReader }[]

  constructor(
    snapshot: FilesSnapshot,
    root: string,
    start: number,
    { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
  ) {
    this.#snapshot = snapshot
    this.#maxDepth = maxDepth
    this.#includeDirs = includeDirs
    this.#levels = maxDepth < 1 ? [] : [{ path: root, listing: new DirectoryReader(snapshot, start) }]
  }

  next(): MaybePromise<WalkEntry | undefined> {
    for (let level = this.#levels.at(-1); level; level = this.#levels.at(-1)) {
      const entry = level.listing.next()
      if (entry instanceof Promise) return entry.then((found) => this.#visit(found) ?? this.next())
      const visited = this.#visit(entry)
      if (visited !== undefined) return visited
    }
    this.#snapshot.hold.release()
    return undefined
  }

  /** Returns the walk entry of a name, or undefined if it has none and the walk continues. */
  #visit(entry: NamedEntry | undefined): MaybePromise<WalkEntry> | undefined {
    const level = this.#levels.at(-1)
    if (entry === undefined || level === undefined) {
      this.#levels.pop()
      return undefined
    }
    const path = child(level.path, entry.name)
    const isDirectory = entry.type === 'directory'
    if (isDirectory && this.#levels.length < this.#maxDepth)
      this.#levels.push({ path, listing: new DirectoryReader(this.#snapshot, entry.inode) })
    if (isDirectory && !this.#includeDirs) return undefined
    const { files, reader } = this.#snapshot
    return reader.run(() => ({ path, stat: toStat(files.getInode(entry.inode)) }))
  }
}

/** Reads the names of one directory in batches. */
class DirectoryReader {
  readonly #snapshot: FilesSnapshot
  readonly #directory: number
  #names: readonly NamedEntry[] = []
  #index = 0
  #isDone = false

  constructor(snapshot: FilesSnapshot, directory: number) {
    this.#snapshot = snapshot
    this.#directory = directory
  }

  next(): MaybePromise<NamedEntry | undefined> {
    const entry = this.#names[this.#index++]
    if (entry !== undefined || this.#isDone) return entry
    const { files, reader } = this.#snapshot
    const last = this.#names.at(-1)?.name
    const names = reader.run(() => files.listEntriesAfter(this.#directory, last, NAMES_PER_BATCH))
    return names instanceof Promise ? names.then((found) => this.#refill(found)) : this.#refill(names)
  }

  #refill(names: readonly NamedEntry[]): NamedEntry | undefined {
    this.#names = names
    this.#index = 1
    this.#isDone = names.length < NAMES_PER_BATCH
    return names[0]
  }
}
