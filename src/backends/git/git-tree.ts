import { isUtf8 } from 'node:buffer'
import {
  ancestors,
  assertLinkFree,
  type CallContext,
  resolveLinks,
  split,
  VfsError,
} from '../../vfs/index.ts'
import type { ObjectReader } from './object-reader.ts'
import type { TreeCache } from './tree-cache.ts'
import { MAX_TARGET_BYTES, type TreeEntry } from './tree-object.ts'

/** Resolves paths of one tree. Its links stay inside the tree, as in a root of its own. */
export class GitTree {
  readonly #reader: ObjectReader
  readonly #trees: TreeCache
  readonly #root: TreeEntry

  constructor(reader: ObjectReader, trees: TreeCache, id: string) {
    this.#reader = reader
    this.#trees = trees
    this.#root = { name: '', type: 'directory', id, mode: 0o755, isSubmodule: false, size: 0 }
  }

  /** Returns the entry a path leads to, or undefined. ELOOP. */
  async find(
    path: string,
    op: string,
    followLast: boolean,
    ctx: CallContext | undefined,
  ): Promise<TreeEntry | undefined> {
    // Most paths contain no link, and their directories are cached.
    const plain = this.#findCached(path)
    if (plain !== undefined && !(plain.type === 'symlink' && followLast)) return plain
    const resolved = await this.resolve(path, followLast, op)
    assertLinkFree(path, resolved, op, ctx)
    return this.#findEntry(resolved)
  }

  /** Resolves the links of a path. ELOOP. */
  resolve(path: string, followLast: boolean, op: string): Promise<string> {
    return resolveLinks(path, followLast, op, async (linkPath) => {
      const entry = await this.#findEntry(linkPath)
      return entry?.type === 'symlink' ? this.readTarget(linkPath, entry) : null
    })
  }

  /** Reads the target of a link. EIO for one that is too long, not UTF-8 or has a NUL byte. */
  async readTarget(path: string, entry: TreeEntry): Promise<string> {
    await this.#trees.loadSizes([entry])
    const [blob] = (entry.size ?? 0) > MAX_TARGET_BYTES ? [] : await this.#reader.objects([entry.id])
    if (blob !== undefined && isUtf8(blob.bytes) && !blob.bytes.includes(0))
      return Buffer.from(blob.bytes).toString()
    const detail = 'the target of the symbolic link is not a valid path'
    throw new VfsError('EIO', path, { op: 'readlink', detail })
  }

  /** Creates ENOENT, with a hint if the path lies in a submodule. */
  async createMissingError(path: string, op: string): Promise<VfsError> {
    for (const above of ancestors(await this.resolve(path, false, op))) {
      const entry = await this.#findEntry(above)
      if (!entry?.isSubmodule) continue
      const detail = `'${above}' is a submodule, whose files are in another repository; mount its commit ${entry.id}`
      return new VfsError('ENOENT', path, { op, detail })
    }
    return new VfsError('ENOENT', path, { op })
  }

  /** Finds an entry through cached directories; undefined if one is not cached or a link is on the way. */
  #findCached(path: string): TreeEntry | undefined {
    let entry: TreeEntry | undefined = this.#root
    for (let start = 1; start < path.length; ) {
      if (entry?.type !== 'directory') return undefined
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      entry = this.#trees.findCached(entry.id)?.byName.get(path.slice(start, end))
      start = end + 1
    }
    return entry
  }

  /** Finds an entry and loads directories as needed. Follows no link. */
  async #findEntry(path: string): Promise<TreeEntry | undefined> {
    let entry: TreeEntry | undefined = this.#root
    for (const name of split(path)) {
      if (entry?.type !== 'directory' || entry.isSubmodule) return undefined
      entry = (await this.#trees.get(entry.id)).byName.get(name)
    }
    return entry
  }
}

/** Returns the entry if it is a file or a link. EISDIR for a directory. */
export function assertFile(path: string, entry: TreeEntry, op: string): TreeEntry {
  if (entry.type !== 'directory') return entry
  throw new VfsError('EISDIR', path, { op })
}
