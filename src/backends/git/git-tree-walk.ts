import { child, type Stat, type WalkEntry, type WalkOptions } from '../../vfs/index.ts'
import type { TreeCache } from './tree-cache.ts'
import type { GitDirectory, TreeEntry } from './tree-object.ts'

/** Directories in one request. */
const BATCH_SIZE = 256
/** Directories that may be prefetched ahead of the walk. */
const MAX_PREFETCHED = 8 * BATCH_SIZE
/** Batches after which the walk prefetches: the next directories load while the caller handles these. */
const BATCHES_ON_DEMAND = 3

/** An entered directory, with the position in it. */
interface Level {
  readonly path: string
  readonly id: string
  directory: GitDirectory | undefined
  /** Index of the next entry. */
  index: number
}

/** State of a scan for upcoming directories. */
interface AheadScan {
  readonly limit: number
  /** Ids of directories to load, in walk order. */
  readonly wanted: Set<string>
  /** Directories already visited: a hostile tree repeats one directory ten times on each of ten levels. */
  readonly visited: Set<string>
}

export interface GitTreeWalkOptions extends WalkOptions {
  readonly trees: TreeCache
  readonly toStat: (entry: TreeEntry) => Stat
}

/**
 * Walks everything below a directory, depth first in the order of names. It requests hundreds of directories in one
 * batch, then the sizes of all their files. A batch has the directories that come next in walk order, as far as the
 * tree is known. After the first steps it prefetches, so that Git works while the caller handles entries.
 *
 * A missing directory is EUNAVAILABLE when the walk reaches it. It is not skipped like an unreadable one: packing or
 * comparing a tree must not silently omit it.
 */
export class GitTreeWalk {
  readonly #trees: TreeCache
  readonly #toStat: (entry: TreeEntry) => Stat
  readonly #maxDepth: number
  readonly #includeDirs: boolean
  readonly #levels: Level[]
  /** Directories that were read and not entered yet. They stay here, since the tree cache evicts. */
  readonly #prefetched = new Map<string, GitDirectory>()
  #batchCount = 0
  #batchLimit = BATCH_SIZE
  /** The batch in flight. */
  #prefetching: Promise<void> | undefined

  constructor(root: string, id: string, { trees, toStat, maxDepth, includeDirs }: GitTreeWalkOptions) {
    this.#trees = trees
    this.#toStat = toStat
    this.#maxDepth = maxDepth ?? Number.POSITIVE_INFINITY
    this.#includeDirs = includeDirs ?? false
    this.#levels = this.#maxDepth < 1 ? [] : [{ path: root, id, directory: undefined, index: 0 }]
  }

  /** Returns the next entry, synchronously if it is in memory; undefined after the last. */
  next(): WalkEntry | undefined | Promise<WalkEntry | undefined> {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      level.directory ??= this.#takeDirectory(level.id)
      if (level.directory === undefined) return this.#waitForPrefetch().then(() => this.next())
      const entry = level.directory.entries[level.index++]
      if (entry === undefined) this.#levels.pop()
      else {
        const path = child(level.path, entry.name)
        if (isWalkable(entry) && this.#levels.length < this.#maxDepth)
          this.#levels.push({ path, id: entry.id, directory: undefined, index: 0 })
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
    const cached = this.#trees.findCached(id)
    return cached?.entries.every(hasKnownSize) ? cached : undefined
  }

  /** Waits until the next directory is loaded, possibly with others before it. */
  async #waitForPrefetch(): Promise<void> {
    try {
      await (this.#prefetching ?? this.#prefetch())
    } catch (error) {
      if (this.#batchLimit === 1) throw error
      // A directory of the batch cannot be read. From here on each loads alone, so that only the unreadable one
      // fails.
      this.#batchLimit = 1
    }
  }

  /** Prefetches the next batch if few directories are left, and there are more. */
  #prefetchIfLow(): void {
    const isEarly = this.#batchCount < BATCHES_ON_DEMAND
    const isLow = this.#prefetched.size <= BATCH_SIZE / 2
    if (isEarly || !isLow || this.#prefetching !== undefined || this.#batchLimit === 1) return
    // A failure shows when the walk reaches that directory, if it does.
    this.#prefetch().catch(() => {})
  }

  #prefetch(): Promise<void> {
    const ids = [...this.#listUpcoming()]
    // No further directories are known: the walk stays early, and scans no more on its own.
    if (ids.length === 0) this.#batchCount = Number.NEGATIVE_INFINITY
    this.#batchCount++
    this.#prefetching = this.#read(ids).finally(() => {
      this.#prefetching = undefined
    })
    return this.#prefetching
  }

  async #read(ids: readonly string[]): Promise<void> {
    // Directories behind the walk are garbage at once: caching them would cost more than reading them.
    const directories = await this.#trees.load(ids, { keep: false })
    await this.#trees.loadSizes(directories.flatMap(({ entries }) => entries))
    for (const [index, directory] of directories.entries()) this.#prefetched.set(ids[index] ?? '', directory)
  }

  /** Lists the next directories that the walk needs and that are not loaded, in walk order. */
  #listUpcoming(): Set<string> {
    const wanted = new Set<string>()
    const scan: AheadScan = {
      limit: this.#prefetched.size > MAX_PREFETCHED ? 1 : this.#batchLimit,
      wanted,
      visited: new Set(),
    }
    for (let depth = this.#levels.length; depth > 0 && wanted.size < scan.limit; depth--) {
      const level = this.#levels[depth - 1]
      if (level === undefined) break
      if (level.directory === undefined) wanted.add(level.id)
      else if (depth < this.#maxDepth) this.#scanAhead(level.directory, level.index, depth, scan)
    }
    return wanted
  }

  #scanAhead(directory: GitDirectory, from: number, depth: number, scan: AheadScan): void {
    const { limit, wanted, visited } = scan
    for (let index = from; index < directory.entries.length && wanted.size < limit; index++) {
      const entry = directory.entries[index]
      if (entry === undefined || !isWalkable(entry) || visited.has(entry.id)) continue
      visited.add(entry.id)
      const prefetched = this.#prefetched.get(entry.id)
      if (prefetched === undefined) wanted.add(entry.id)
      else if (depth + 1 < this.#maxDepth) this.#scanAhead(prefetched, 0, depth + 1, scan)
    }
  }
}

/** True if the walk can enter it. A submodule is a directory without content here. */
function isWalkable({ type, isSubmodule }: TreeEntry): boolean {
  return type === 'directory' && !isSubmodule
}

function hasKnownSize({ type, size }: TreeEntry): boolean {
  return type === 'directory' || size !== undefined
}
