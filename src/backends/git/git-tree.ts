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

/** Paths of one tree: what is at each, and where its links lead. Links stay inside the tree, as in a root of its own. */
export class GitTree {
  readonly #reader: ObjectReader
  readonly #trees: TreeCache
  readonly #root: TreeEntry

  constructor(reader: ObjectReader, trees: TreeCache, id: string) {
    this.#reader = reader
    this.#trees = trees
    this.#root = { name: '', type: 'directory', id, mode: 0o755, isSubmodule: false, size: 0 }
  }

  /** What a path leads to; undefined if there is nothing. ELOOP. */
  async find(
    path: string,
    op: string,
    followLast: boolean,
    ctx: CallContext | undefined,
  ): Promise<TreeEntry | undefined> {
    // Mostly there is no link on the way, and everything was read before.
    const plain = this.#findCached(path)
    if (plain !== undefined && !(plain.type === 'symlink' && followLast)) return plain
    const resolved = await this.resolve(path, followLast, op)
    assertLinkFree(path, resolved, op, ctx)
    return this.#findEntry(resolved)
  }

  /** Where a path leads when links are followed. ELOOP. */
  resolve(path: string, followLast: boolean, op: string): Promise<string> {
    return resolveLinks(path, followLast, op, async (at) => {
      const entry = await this.#findEntry(at)
      return entry?.type === 'symlink' ? this.readTarget(at, entry) : null
    })
  }

  /** The target of a link. EIO for bytes that are no text. */
  async readTarget(path: string, entry: TreeEntry): Promise<string> {
    await this.#trees.loadSizes([entry])
    const [blob] = (entry.size ?? 0) > MAX_TARGET_BYTES ? [] : await this.#reader.objects([entry.id])
    if (blob !== undefined && isUtf8(blob.bytes) && !blob.bytes.includes(0))
      return Buffer.from(blob.bytes).toString()
    const detail = 'the target of the symbolic link is no path'
    throw new VfsError('EIO', path, { op: 'readlink', detail })
  }

  /** ENOENT, which says so if the path lies in a submodule. */
  async createMissingError(path: string, op: string): Promise<VfsError> {
    for (const above of ancestors(await this.resolve(path, false, op))) {
      const entry = await this.#findEntry(above)
      if (!entry?.isSubmodule) continue
      const detail = `'${above}' is a submodule, of which this repository holds nothing; mount commit ${entry.id} of its own`
      return new VfsError('ENOENT', path, { op, detail })
    }
    return new VfsError('ENOENT', path, { op })
  }

  /** Down through directories that were read before; undefined if there is more to it. */
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

  /** As `#descend`, reading what it needs. No link is followed. */
  async #findEntry(path: string): Promise<TreeEntry | undefined> {
    let entry: TreeEntry | undefined = this.#root
    for (const name of split(path)) {
      if (entry?.type !== 'directory' || entry.isSubmodule) return undefined
      entry = (await this.#trees.get(entry.id)).byName.get(name)
    }
    return entry
  }
}

/** EISDIR for a directory. */
export function assertFile(path: string, entry: TreeEntry, op: string): TreeEntry {
  if (entry.type !== 'directory') return entry
  throw new VfsError('EISDIR', path, { op })
}
