import { VfsError } from '../error.ts'
import type { CallContext, DirEntry, FileSystem, Stat } from '../file-system.ts'
import { isMissing, statIfPresent } from '../helpers/stat-if-present.ts'
import { EMPTY_CONTENT } from '../memory/memory-content.ts'
import { MemoryTree } from '../memory/memory-tree.ts'
import { createFileNode } from '../memory/nodes.ts'
import { mergeEntries } from '../merge-entries.ts'
import { ancestors, child, dirname } from '../path.ts'
import { isAttributed, isForkable, isLinkable, type StatChanges } from '../protocols.ts'
import { assertLinkFree, resolveLinks } from '../resolve-links.ts'
import { UpperDirectories } from './upper-directories.ts'

/** A path in an overlay: its stat in each layer where it is visible. */
export interface LayeredEntry {
  /** The path with its links resolved. */
  readonly path: string
  readonly upper: Stat | null
  readonly lower: Stat | null
}

/** A whiteout in the tree of masks. */
const MASK = createFileNode(0, EMPTY_CONTENT, 0, 0)
const PERMISSIONS = 0o7777

/**
 * Merges the two trees of an overlay. Upper wins; two directories merge. Lower is hidden where it is masked, and below
 * any path that is not a directory in upper.
 */
export class Layers {
  readonly lower: FileSystem
  readonly upper: FileSystem
  readonly directories: UpperDirectories
  /** The whiteouts: hidden lower paths, each a file in a tree, so that forks and prefix checks are O(1). */
  #masks = new MemoryTree(0)
  /** Changed attributes of the root. Those of upper's own root predate the overlay and do not count. */
  #rootChanges: Omit<StatChanges, 'ofLink'> = {}

  constructor(lower: FileSystem, upper: FileSystem) {
    this.lower = lower
    this.upper = upper
    this.directories = new UpperDirectories(upper, (ctx) => {
      const cache = new Map<string, LayeredEntry>()
      return async (path) => (await this.#lookup(path, cache, ctx)).lower
    })
  }

  fork(): Layers {
    if (!isForkable(this.upper)) {
      throw new VfsError('ENOTSUP', '/', {
        op: 'fork',
        detail: 'the upper layer cannot fork; use one that can, such as MemoryFs',
      })
    }
    const fork = new Layers(this.lower, this.upper.fork())
    fork.#masks = this.#masks.fork()
    fork.#rootChanges = this.#rootChanges
    return fork
  }

  /** Hides a lower path with everything below it. Returns a function that undoes this. */
  mask(path: string): () => void {
    if (this.#isBelowMask(path)) return () => {}
    const before = this.#masks.get(path)
    const options = { parents: true, op: 'mask', now: 0 }
    this.#masks.put(path, MASK, options)
    return () => {
      if (before) this.#masks.put(path, before, options)
      else this.#masks.delete(path, 'unmask', 0)
    }
  }

  isMasked(path: string): boolean {
    return this.#masks.get(path)?.type === 'file'
  }

  /** Drops all masks and changes of the root, and empties upper. */
  async clear(): Promise<void> {
    this.#masks = new MemoryTree(0)
    this.#rootChanges = {}
    const entries = await Array.fromAsync(this.upper.readdir('/'))
    for (const { name } of entries) await this.upper.remove(child('/', name), { recursive: true })
  }

  /** Looks up a path after its links are resolved, including the last name if requested. ELOOP. */
  async locate(path: string, followLast: boolean, op: string, ctx?: CallContext): Promise<LayeredEntry> {
    const cache = new Map<string, LayeredEntry>()
    const resolved = await resolveLinks(path, followLast, op, async (linkPath) => {
      return this.#readLinkTarget(await this.#lookup(linkPath, cache, ctx), ctx)
    })
    assertLinkFree(path, resolved, op, ctx)
    return this.#lookup(resolved, cache, ctx)
  }

  /** Reports whether lower is unchanged at a directory and everywhere below. */
  isUntouched({ path, upper }: LayeredEntry): boolean {
    return upper === null && this.#masks.get(path) === undefined
  }

  /** Lists a directory merged from both layers. */
  async *list({ path, upper, lower }: LayeredEntry, ctx?: CallContext): AsyncGenerator<DirEntry> {
    const own = upper === null ? [] : await Array.fromAsync(this.upper.readdir(path, ctx))
    yield* mergeEntries(own, lower?.type === 'directory' ? this.#listUnmasked(path, ctx) : emptyListing())
  }

  /**
   * Returns the names in a directory that may differ from lower, or null if the whole directory is masked and any may.
   */
  async listTouchedNames(directory: string, ctx?: CallContext): Promise<Iterable<string> | null> {
    if (this.#isBelowMask(directory)) return null
    const masks = this.#masks.get(directory)
    const names = new Set(
      masks?.type === 'directory' ? [...masks.entries.entries()].map(([name]) => name) : [],
    )
    const upper = await statIfPresent(this.upper, directory, ctx)
    if (upper?.type !== 'directory') return names
    for await (const { name } of this.upper.readdir(directory, ctx)) names.add(name)
    return names
  }

  changeRoot({ mode, mtime }: StatChanges): void {
    this.#rootChanges = {
      ...this.#rootChanges,
      ...(mode !== undefined && { mode: mode & PERMISSIONS }),
      ...(mtime !== undefined && { mtime }),
    }
  }

  /** Sets the time of a directory for a change that upper does not see: any in the root, or the removal of a lower name. */
  async touch(directory: string, ctx?: CallContext): Promise<void> {
    const { upper } = this
    const times = { mtime: new Date() }
    if (directory === '/') this.changeRoot(times)
    else if (this.directories.keepsAttributes && isAttributed(upper))
      await upper.setattr(directory, times, ctx)
  }

  /**
   * Throws if the parent of a new entry is missing (unless it may be created) or not a directory. Returns the nearest
   * existing ancestor, which gets the new name.
   */
  async assertParent(path: string, mayCreate: boolean, op: string, ctx?: CallContext): Promise<string> {
    const cache = new Map<string, LayeredEntry>()
    let nearest = '/'
    for (const directory of ancestors(path)) {
      const { upper, lower } = await this.#lookup(directory, cache, ctx)
      const type = (upper ?? lower)?.type
      if (type === undefined && !mayCreate) throw new VfsError('ENOENT', path, { op })
      if (type !== undefined && type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
      if (type === 'directory') nearest = directory
    }
    return nearest
  }

  /** Looks up `path` from its parent's layers: one step of a union mount's lookup. */
  async step(parent: LayeredEntry, path: string, ctx?: CallContext): Promise<LayeredEntry> {
    const upper = parent.upper?.type === 'directory' ? await statIfPresent(this.upper, path, ctx) : null
    const isHidden = (upper !== null && upper.type !== 'directory') || this.isMasked(path)
    const lowerStat =
      parent.lower?.type === 'directory' && !isHidden ? await statIfPresent(this.lower, path, ctx) : null
    const lower = upper === null || lowerStat?.type === 'directory' ? lowerStat : null
    return { path, upper, lower }
  }

  /** Looks up a path name by name; its links are already resolved. `cache` has the results of earlier lookups. */
  async #lookup(path: string, cache: Map<string, LayeredEntry>, ctx?: CallContext): Promise<LayeredEntry> {
    const uncached: string[] = []
    let nearest = path
    for (; nearest !== '/' && !cache.has(nearest); nearest = dirname(nearest)) uncached.push(nearest)
    let found = cache.get(nearest) ?? (await this.#root(ctx))
    cache.set(nearest, found)
    for (const next of uncached.reverse()) {
      found = await this.step(found, next, ctx)
      cache.set(next, found)
    }
    return found
  }

  async #root(ctx?: CallContext): Promise<LayeredEntry> {
    const [upper, lower] = [
      await statIfPresent(this.upper, '/', ctx),
      await statIfPresent(this.lower, '/', ctx),
    ]
    return { path: '/', upper: lower === null ? upper : { ...lower, ...this.#rootChanges }, lower }
  }

  #isBelowMask(path: string): boolean {
    return this.isMasked(path) || ancestors(path).some((above) => this.isMasked(above))
  }

  async #readLinkTarget({ path, upper, lower }: LayeredEntry, ctx?: CallContext): Promise<string | null> {
    const layer = upper ? this.upper : this.lower
    if ((upper ?? lower)?.type !== 'symlink' || !isLinkable(layer)) return null
    return layer.readlink(path, ctx)
  }

  async *#listUnmasked(directory: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    try {
      for await (const entry of this.lower.readdir(directory, ctx)) {
        if (!this.isMasked(child(directory, entry.name))) yield entry
      }
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
}

async function* emptyListing(): AsyncGenerator<DirEntry> {}
