import { child, type Stat, type WalkEntry, type WalkOptions } from '../../vfs/index.ts'
import type { Directory, TreeEntry } from './tree-object.ts'
import type { Trees } from './trees.ts'

/** How many directories are asked for in one go. */
const WAVE = 256
/** How many may be read ahead of the walk. */
const MOST_AHEAD = 8 * WAVE
/** Whoever has come so far goes on: the next directories are read while these are looked at. */
const WAVES_ON_DEMAND = 3

/** A directory on the way, with the place in it. */
interface Level {
  readonly path: string
  readonly id: string
  directory: Directory | undefined
  at: number
}

/** How far a look ahead is. */
interface Looked {
  readonly limit: number
  readonly wanted: Set<string>
  /** Directories it has met: a hostile tree has the same one ten times on each of ten levels. */
  readonly into: Set<string>
}

export interface TreeWalkOptions extends WalkOptions {
  readonly trees: Trees
  readonly statOf: (entry: TreeEntry) => Stat
}

/**
 * Everything below a directory, depth first in the order of names. It asks for hundreds of directories, and then
 * for the sizes of all their files, in one go: for those that come next in its order, as far as it knows the tree.
 * After the first steps it asks before it needs them, so that Git works while somebody looks at what is there.
 *
 * A directory that is not here is EUNAVAILABLE when the walk comes to it, and not skipped as one that nobody may read:
 * it is elsewhere, which is no reason to show less. Whoever packs or compares a tree has no other way to learn of it.
 */
export class TreeWalk {
  readonly #trees: Trees
  readonly #statOf: (entry: TreeEntry) => Stat
  readonly #maxDepth: number
  readonly #includeDirs: boolean
  readonly #levels: Level[]
  /** What was read and not entered yet. Kept here, as the trees forget. */
  readonly #ahead = new Map<string, Directory>()
  #waves = 0
  #most = WAVE
  /** A wave that is under way. */
  #coming: Promise<void> | undefined

  constructor(root: string, id: string, { trees, statOf, maxDepth, includeDirs }: TreeWalkOptions) {
    this.#trees = trees
    this.#statOf = statOf
    this.#maxDepth = maxDepth ?? Number.POSITIVE_INFINITY
    this.#includeDirs = includeDirs ?? false
    this.#levels = this.#maxDepth < 1 ? [] : [{ path: root, id, directory: undefined, at: 0 }]
  }

  /** At once if it is at hand; undefined after the last. */
  next(): WalkEntry | undefined | Promise<WalkEntry | undefined> {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      level.directory ??= this.#taken(level.id)
      if (level.directory === undefined) return this.#arrival().then(() => this.next())
      const entry = level.directory.entries[level.at++]
      if (entry === undefined) this.#levels.pop()
      else {
        const path = child(level.path, entry.name)
        if (isEntered(entry) && this.#levels.length < this.#maxDepth)
          this.#levels.push({ path, id: entry.id, directory: undefined, at: 0 })
        if (entry.type !== 'directory' || this.#includeDirs) return { path, stat: this.#statOf(entry) }
      }
    }
    return undefined
  }

  #taken(id: string): Directory | undefined {
    const directory = this.#ahead.get(id)
    if (directory !== undefined) {
      this.#ahead.delete(id)
      this.#readOn()
      return directory
    }
    const kept = this.#trees.peek(id)
    return kept?.entries.every(isMeasured) ? kept : undefined
  }

  /** Waits for the next directory, or some others before it. */
  async #arrival(): Promise<void> {
    try {
      await (this.#coming ?? this.#readAhead())
    } catch (error) {
      if (this.#most === 1) throw error
      // One of them cannot be read. From here on each is by itself, so that only whoever comes to that one is told.
      this.#most = 1
    }
  }

  /** Asks for the next wave if this one comes to its end, and there is another. */
  #readOn(): void {
    const isEarly = this.#waves < WAVES_ON_DEMAND || this.#ahead.size > WAVE / 2
    // If it fails, that is told when the walk comes there, if it does.
    if (!isEarly && this.#coming === undefined && this.#most > 1) this.#readAhead().catch(() => {})
  }

  #readAhead(): Promise<void> {
    const ids = [...this.#upcoming()]
    // Nothing more can become known: from here on there is no reason to look again.
    if (ids.length === 0) this.#waves = Number.NEGATIVE_INFINITY
    this.#waves++
    this.#coming = this.#read(ids).finally(() => {
      this.#coming = undefined
    })
    return this.#coming
  }

  async #read(ids: readonly string[]): Promise<void> {
    // What a walk has passed is garbage at once: kept, it would cost more than all the reading.
    const directories = await this.#trees.load(ids, { keep: false })
    await this.#trees.measure(directories.flatMap(({ entries }) => entries))
    for (const [at, directory] of directories.entries()) this.#ahead.set(ids[at] ?? '', directory)
  }

  /** The next directories the walk will need and does not have, in its order. */
  #upcoming(): Set<string> {
    const wanted = new Set<string>()
    const looked: Looked = { limit: this.#ahead.size > MOST_AHEAD ? 1 : this.#most, wanted, into: new Set() }
    for (let depth = this.#levels.length; depth > 0 && wanted.size < looked.limit; depth--) {
      const level = this.#levels[depth - 1]
      if (level === undefined) break
      if (level.directory === undefined) wanted.add(level.id)
      else if (depth < this.#maxDepth) this.#look(level.directory, level.at, depth, looked)
    }
    return wanted
  }

  #look(directory: Directory, from: number, depth: number, looked: Looked): void {
    const { limit, wanted, into } = looked
    for (let at = from; at < directory.entries.length && wanted.size < limit; at++) {
      const entry = directory.entries[at]
      if (entry === undefined || !isEntered(entry) || into.has(entry.id)) continue
      into.add(entry.id)
      const known = this.#ahead.get(entry.id)
      if (known === undefined) wanted.add(entry.id)
      else if (depth + 1 < this.#maxDepth) this.#look(known, 0, depth + 1, looked)
    }
  }
}

/** A submodule is a directory of which nothing is here. */
function isEntered({ type, isSubmodule }: TreeEntry): boolean {
  return type === 'directory' && !isSubmodule
}

function isMeasured({ type, size }: TreeEntry): boolean {
  return type === 'directory' || size !== undefined
}
