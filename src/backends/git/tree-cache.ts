import { VfsError } from '../../vfs/index.ts'
import type { GitObject, ObjectReader } from './object-reader.ts'
import { type GitDirectory, parseTree, type TreeEntry } from './tree-object.ts'

/** Limit of the directory entries in the cache; it evicts the oldest first. */
const MAX_CACHED_ENTRIES = 200_000

/** Caches the directories of a repository by tree id. Trees never change. */
export class TreeCache {
  readonly #reader: ObjectReader
  readonly #cached = new Map<string, GitDirectory>()
  #entries = 0

  constructor(reader: ObjectReader) {
    this.#reader = reader
  }

  /** Returns a cached directory. */
  findCached(id: string): GitDirectory | undefined {
    return this.#cached.get(id)
  }

  /** Returns a directory, loaded if it is not cached. */
  async get(id: string): Promise<GitDirectory> {
    const [directory] = this.#cached.has(id) ? [this.#cached.get(id)] : await this.load([id])
    if (directory === undefined) throw createDamageError(id)
    return directory
  }

  /**
   * Loads several directories in one batch, in the order of the ids. `keep: false` does not cache them.
   * EIO for an id that is not a tree.
   */
  async load(
    ids: readonly string[],
    { keep = true }: { readonly keep?: boolean } = {},
  ): Promise<GitDirectory[]> {
    const missing = [...new Set(ids)].filter((id) => !this.#cached.has(id))
    const found = new Map<string, GitDirectory>()
    for (const [index, object] of (await this.#reader.objects(missing)).entries()) {
      const id = missing[index] ?? ''
      found.set(id, parseDirectory(id, object))
    }
    const directories = ids.map((id) => found.get(id) ?? this.#cached.get(id))
    if (keep) for (const [id, directory] of found) this.#addToCache(id, directory)
    return directories.map((directory, index) => directory ?? throwDamaged(ids[index] ?? ''))
  }

  /** Loads the unknown sizes of files in one batch and sets them on the entries. */
  async loadSizes(entries: readonly TreeEntry[]): Promise<void> {
    const unknown = entries.filter(({ type, size }) => size === undefined && type !== 'directory')
    if (unknown.length === 0) return
    const sizes = await this.#reader.sizes(unknown.map(({ id }) => id))
    for (const [index, entry] of unknown.entries()) entry.size = sizes[index]
  }

  #addToCache(id: string, directory: GitDirectory): void {
    this.#cached.set(id, directory)
    this.#entries += directory.entries.length
    for (const [oldest, { entries }] of this.#cached) {
      if (this.#entries <= MAX_CACHED_ENTRIES || oldest === id) return
      this.#cached.delete(oldest)
      this.#entries -= entries.length
    }
  }
}

function parseDirectory(id: string, { type, bytes }: GitObject): GitDirectory {
  const directory = type === 'tree' ? parseTree(bytes, id.length / 2) : undefined
  return directory ?? throwDamaged(id)
}

function throwDamaged(id: string): never {
  throw createDamageError(id)
}

function createDamageError(id: string): VfsError {
  const detail = `the repository is damaged: ${id} is not a tree; check it with git fsck`
  return new VfsError('EIO', '/', { op: 'read', detail })
}
