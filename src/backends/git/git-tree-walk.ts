import { child, type Stat, type WalkEntry, type WalkOptions } from '../../vfs/index.ts'
import type { TreeCache } from './tree-cache.ts'
import type { GitDirectory, TreeEntry } from './tree-object.ts'

/** How many directories are asked for in one go. */
const BATCH_SIZE = 256
/** How many may be read ahead of the walk. */
const MAX_PREFETCHED = 8 * BATCH_SIZE
/** Whoever has come so far goes on: the next directories are read while these are looked at. */
const BATCHES_ON_DEMAND = 3

/** A directory on the way, with the place in it. */
interface Level {
  readonly path: string
  readonly id: string
  directory: GitDirectory | undefined
  at: number
}

/** How far a look ahead is. */
interface AheadScan {
  readonly limit: number
  readonly wanted: Set<string>
  /** Directories it has met: a hostile tree has the same one ten times on each of ten levels. */
  readonly into: Set<string>
}

export interface GitTreeWalkOptions extends WalkOptions {
  readonly trees: TreeCache
  readonly toStat: (entry: TreeEntry) => Stat
}

/**
 * Everything below a directory, depth first in the order of names. It asks for hundreds of directories, and then
 * for the sizes of all their files, in one go: for those that come next in its order, as far as it knows the tree.
 * After the first steps it asks before it needs them, so that Git works while somebody looks at what is there.
 *
 * A directory that is not here is EUNAVAILABLE when the walk comes to it, and not skipped as one that nobody may read:
 * it is elsewhere, which is no reason to show less. Whoever packs or compares a tree has no other way to learn of it.
 */
export class GitTreeWalk {
  readonly #trees: TreeCache
  readonly #toStat: (entry: TreeEntry) => Stat
  readonly #maxDepth: number
  readonly #includeDirs: boolean
  readonly #levels: Level[]
  /** What was read and not entered yet. Kept here, as the trees forget. */
  readonly #prefetched = new Map<string, GitDirectory>()
  #batchCount = 0
  #batchLimit = BATCH_SIZE
  /** A wave that is under way. */
  #prefetching: Promise<void> | undefined

  constructor(root: string, id: string, { trees, toStat, maxDepth, includeDirs }: GitTreeWalkOptions) {
    this.#trees = trees
    this.#toStat = toStat
    this.#maxDepth = maxDepth ?? Number.POSITIVE_INFINITY
    this.#includeDirs = includeDirs ?? false
    this.#levels = this.#maxDepth < 1 ? [] : [{ path: root, id, directory: undefined, at: 0 }]
  }

  /** At once if it is at hand; undefined after the last. */
  next(): WalkEntry | undefined | Promise<WalkEntry | undefined> {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      level.directory ??= this.#takeDirectory(level.id)
      if (level.directory === undefined) return this.#waitForPrefetch().then(() => this.next())
      const entry = level.directory.entries[level.at++]
      if (entry === undefined) this.#levels.pop()
      else {
        const path = child(level.path, entry.name)
        if (isWalkable(entry) && this.#levels.length < this.#maxDepth)
          this.#levels.push({ path, id: entry.id, directory: undefined, at: 0 })
        if (entry.type !== 'directory' || this.#includeDirs) return { path, stat: this.#toStat(entry) }
      }
    }
    return undefined
  }

  #takeDirectory(id: string): GitDirectory | undefined {
    const directory = this.#prefetched.get(id)
    if (directory !== undefined) {
      this.#prefetched.delete(id)
      this.#prefetchIfLow()
      return directory
    }
    const kept = this.#trees.findCached(id)
    return kept?.entries.every(hasKnownSize) ? kept : undefined
  }

  /** Waits for the next directory, or some others before it. */
  async #waitForPrefetch(): Promise<void> {
    try {
      await (this.#prefetching ?? this.#prefetch())
    } catch (error) {
      if (this.#batchLimit === 1) throw error
      // One of them cannot be read. From here on each is by itself, so that only whoever comes to that one is told.
      this.#batchLimit = 1
    }
  }

  /** Asks for the next wave if this one comes to its end, and there is another. */
  #prefetchIfLow(): void {
    const isEarly = this.#batchCount < BATCHES_ON_DEMAND || this.#prefetched.size > BATCH_SIZE / 2
    // If it fails, that is told when the walk comes there, if it does.
    if (!isEarly && this.#prefetching === undefined && this.#batchLimit > 1) this.#prefetch().catch(() => {})
  }

  #prefetch(): Promise<void> {
    const ids = [...this.#listUpcoming()]
    // Nothing more can become known: from here on there is no reason to look again.
    if (ids.length === 0) this.#batchCount = Number.NEGATIVE_INFINITY
    this.#batchCount++
    this.#prefetching = this.#read(ids).finally(() => {
      this.#prefetching = undefined
    })
    return this.#prefetching
  }

  async #read(ids: readonly string[]): Promise<void> {
    // What a walk has passed is garbage at once: kept, it would cost more than all the reading.
    const directories = await this.#trees.load(ids, { keep: false })
    await this.#trees.loadSizes(directories.flatMap(({ entries }) => entries))
    for (const [at, directory] of directories.entries()) this.#prefetched.set(ids[at] ?? '', directory)
  }

  /** The next directories the walk will need and does not have, in its order. */
  #listUpcoming(): Set<string> {
    const wanted = new Set<string>()
    const looked: AheadScan = {
      limit: this.#prefetched.size > MAX_PREFETCHED ? 1 : this.#batchLimit,
      wanted,
      into: new Set(),
    }
    for (let depth = this.#levels.length; depth > 0 && wanted.size < looked.limit; depth--) {
      const level = this.#levels[depth - 1]
      if (level === undefined) break
      if (level.directory === undefined) wanted.add(level.id)
      else if (depth < this.#maxDepth) this.#scanAhead(level.directory, level.at, depth, looked)
    }
    return wanted
  }

  #scanAhead(directory: GitDirectory, from: number, depth: number, looked: AheadScan): void {
    const { limit, wanted, into } = looked
    for (let at = from; at < directory.entries.length && wanted.size < limit; at++) {
      const entry = directory.entries[at]
      if (entry === undefined || !isWalkable(entry) || into.has(entry.id)) continue
      into.add(entry.id)
      const known = this.#prefetched.get(entry.id)
      if (known === undefined) wanted.add(entry.id)
      else if (depth + 1 < this.#maxDepth) this.#scanAhead(known, 0, depth + 1, looked)
    }
  }
}

/** A submodule is a directory of which nothing is here. */
function isWalkable({ type, isSubmodule }: TreeEntry): boolean {
  return type === 'directory' && !isSubmodule
}

function hasKnownSize({ type, size }: TreeEntry): boolean {
  return type === 'directory' || size !== undefined
}
