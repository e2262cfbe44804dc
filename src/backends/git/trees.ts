import { VfsError } from '../../vfs/index.ts'
import type { GitObject, ObjectReader } from './object-reader.ts'
import { type Directory, parseTree, type TreeEntry } from './tree-object.ts'

/** How many entries of directories are kept; the oldest go first. */
const KEPT_ENTRIES = 200_000

/** The directories of a repository by the id of their tree. What was read is kept, as trees never change. */
export class Trees {
  readonly #reader: ObjectReader
  readonly #kept = new Map<string, Directory>()
  #entries = 0

  constructor(reader: ObjectReader) {
    this.#reader = reader
  }

  /** A directory that was read before. */
  peek(id: string): Directory | undefined {
    return this.#kept.get(id)
  }

  async get(id: string): Promise<Directory> {
    const [directory] = this.#kept.has(id) ? [this.#kept.get(id)] : await this.load([id])
    if (directory === undefined) throw damaged(id)
    return directory
  }

  /** Several in one go, in the order asked for; kept, unless each is needed only once. EIO for what is no tree. */
  async load(
    ids: readonly string[],
    { keep = true }: { readonly keep?: boolean } = {},
  ): Promise<Directory[]> {
    const missing = [...new Set(ids)].filter((id) => !this.#kept.has(id))
    const found = new Map<string, Directory>()
    for (const [at, object] of (await this.#reader.objects(missing)).entries()) {
      const id = missing[at] ?? ''
      found.set(id, directoryOf(id, object))
    }
    const directories = ids.map((id) => found.get(id) ?? this.#kept.get(id))
    if (keep) for (const [id, directory] of found) this.#keep(id, directory)
    return directories.map((directory, at) => directory ?? fail(ids[at] ?? ''))
  }

  /** Finds out the sizes of files that are not known yet, in one go. */
  async measure(entries: readonly TreeEntry[]): Promise<void> {
    const unknown = entries.filter(({ type, size }) => size === undefined && type !== 'directory')
    if (unknown.length === 0) return
    const sizes = await this.#reader.sizes(unknown.map(({ id }) => id))
    for (const [at, entry] of unknown.entries()) entry.size = sizes[at]
  }

  #keep(id: string, directory: Directory): void {
    this.#kept.set(id, directory)
    this.#entries += directory.entries.length
    for (const [oldest, { entries }] of this.#kept) {
      if (this.#entries <= KEPT_ENTRIES || oldest === id) return
      this.#kept.delete(oldest)
      this.#entries -= entries.length
    }
  }
}

function directoryOf(id: string, { type, bytes }: GitObject): Directory {
  const directory = type === 'tree' ? parseTree(bytes, id.length / 2) : undefined
  return directory ?? fail(id)
}

function fail(id: string): never {
  throw damaged(id)
}

function damaged(id: string): VfsError {
  const detail = `the repository is damaged: ${id} is no tree; look with: git fsck`
  return new VfsError('EIO', '/', { op: 'read', detail })
}
