import { resolve } from 'node:path'
import {
  assertLinkFree,
  type CallContext,
  child,
  type DirEntry,
  dirname,
  type FileSystem,
  type FileType,
  isLinkable,
  isVfsError,
  isWithin,
  list,
  MemoryFs,
  type ReadOptions,
  refuseLinks,
  resolveLinks,
  type Stat,
  VfsError,
  type WalkEntry,
  type WalkOptions,
} from '../../vfs/index.ts'
import { DirectoryReader } from './directory-reader.ts'
import type { ForkLayers } from './fork-layers.ts'
import type { MaskContent } from './masked-host-tree.ts'

/** The layers of a view. */
export interface ViewParts {
  /** Path of the directory. */
  readonly root: string
  /** The files of the directory. It follows no link that leads out. */
  readonly directory: FileSystem
  /** The fork's vault. */
  readonly vault: FileSystem
  readonly layers: ForkLayers
  readonly mask: MaskContent | undefined
}

/** An entry of a walk. */
interface ViewedEntry extends WalkEntry {
  /**
   * True if the fork has touched nothing in the directory of the entry, so the entry is that of the linked directory.
   */
  readonly isUntouched: boolean
}

/**
 * A linked directory with the changes of a fork on top, for one operation. Only `runResolved` and `resolve` take paths
 * with links.
 */
export class LinkedView {
  readonly #parts: ViewParts

  constructor(parts: ViewParts) {
    this.#parts = parts
  }

  /**
   * Reads a path and follows its links. Most paths have none, so a path that the fork has not touched is first read as
   * it is: ELOOP shows that it has a link. Throws ELOOP for a link if the call must not follow any.
   */
  async runResolved<T>(
    { path, op, followLast }: { path: string; op: string; followLast: boolean },
    ctx: CallContext | undefined,
    read: (path: string) => Promise<T>,
  ): Promise<T> {
    if (this.#parts.layers.isUntouched(this.#parts.layers.find(path))) {
      try {
        return await read(path)
      } catch (error) {
        if (!isVfsError(error, 'ELOOP')) throw error
      }
    }
    return read(await this.resolve(path, followLast, op, ctx))
  }

  /** Returns the file system that has the entry at a path; undefined if the fork has removed it. */
  findLayer(path: string): FileSystem | undefined {
    const { layers, vault, directory } = this.#parts
    const { source } = layers.find(path)
    if (source === undefined) return undefined
    return source === 'fork' ? vault : directory
  }

  async stat(path: string, ctx: CallContext | undefined): Promise<Stat> {
    const { layers, vault, directory } = this.#parts
    const found = layers.find(path)
    if (found.source === undefined) throw new VfsError('ENOENT', path, { op: 'stat' })
    if (found.source === 'fork') return vault.stat(path, refuseLinks(ctx))
    try {
      return this.#maskStat(path, await directory.stat(path, refuseLinks(ctx)))
    } catch (error) {
      if (isMissing(error) && layers.hasEntriesBelow(found)) return vault.stat(path, refuseLinks(ctx))
      throw error
    }
  }

  /** Returns the stat of a path; undefined if it is missing or cannot be read. */
  async findStat(path: string, ctx: CallContext | undefined): Promise<Stat | undefined> {
    try {
      return await this.stat(path, ctx)
    } catch (error) {
      if (isVfsError(error)) return undefined
      throw error
    }
  }

  /** Returns the content of a masked file of the directory; undefined for a file that is not masked. */
  readMasked(path: string): Uint8Array | undefined {
    const { mask, root } = this.#parts
    return mask?.(path, () => {
      using reader = new DirectoryReader(root)
      return reader.read(path) ?? new Uint8Array(0)
    })
  }

  /** Reads a file. Secret values of the directory are masked. Throws ELOOP for a link. */
  async *read(path: string, options: ReadOptions, ctx: CallContext | undefined): AsyncGenerator<Uint8Array> {
    const { directory } = this.#parts
    const fs = this.findLayer(path)
    if (fs === undefined) throw new VfsError('ENOENT', path, { op: 'read' })
    const masked = fs === directory ? this.readMasked(path) : undefined
    if (masked === undefined) {
      yield* fs.read(path, options, refuseLinks(ctx))
      return
    }
    const { type } = await directory.stat(path, refuseLinks(ctx))
    if (type === 'symlink') throw new VfsError('ELOOP', path, { op: 'read' })
    yield* new MemoryFs({ [path]: masked }).read(path, options)
  }

  async list(path: string, ctx: CallContext | undefined): Promise<DirEntry[]> {
    const { layers, directory } = this.#parts
    const found = layers.find(path)
    if (layers.isUntouched(found)) return list(directory, path, refuseLinks(ctx))
    const { type } = await this.stat(path, ctx)
    if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    const known = new Map(layers.listNames(found).map((name) => [name, layers.enter(found, name)]))
    if (known.size === 0 && found.source === 'directory') return list(directory, path, refuseLinks(ctx))
    const types = found.showsDirectory ? await this.#listDirectory(path, ctx) : new Map<string, FileType>()
    for (const [name, entry] of known) {
      if (entry.source === undefined) types.delete(name)
      else if (entry.source === 'fork' || layers.hasEntriesBelow(entry))
        types.set(name, (await this.stat(child(path, name), ctx)).type)
    }
    return [...types.keys()].sort().map((name) => ({ name, type: types.get(name) ?? 'other' }))
  }

  /** Walks depth first. Parts in which the fork has changed nothing cost what they cost in the directory. */
  async *walk(
    root: string,
    { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
    ctx: CallContext | undefined,
  ): AsyncGenerator<ViewedEntry> {
    if (maxDepth < 1) return
    const { layers, directory } = this.#parts
    const found = layers.find(root)
    if (found.source === 'directory' && layers.listNames(found).length === 0) {
      const entries = directory.walk(root, { maxDepth, includeDirs }, refuseLinks(ctx))
      for await (const { path, stat } of entries)
        yield { path, stat: this.#maskStat(path, stat), isUntouched: true }
      return
    }
    for (const { name } of await this.#findEntries(root, ctx)) {
      const path = child(root, name)
      const stat = await this.findStat(path, ctx)
      if (stat === undefined) continue
      if (stat.type !== 'directory' || includeDirs) yield { path, stat, isUntouched: false }
      if (stat.type === 'directory') yield* this.walk(path, { maxDepth: maxDepth - 1, includeDirs }, ctx)
    }
  }

  /**
   * Resolves the links in a path, in the fork and in the directory. Throws EACCES for one that leads out, ELOOP for any
   * if the call must not follow them.
   */
  async resolve(
    path: string,
    followLast: boolean,
    op: string,
    ctx: CallContext | undefined,
  ): Promise<string> {
    if (await this.#isLinkFree(path, followLast, ctx)) return path
    const resolved = await resolveLinks(path, followLast, op, (link) => this.#findTarget(link, op, ctx))
    assertLinkFree(path, resolved, op, ctx)
    return resolved
  }

  /** True if a path certainly has no link: the fork has changed none of its names, and the directory finds none. */
  async #isLinkFree(path: string, followLast: boolean, ctx: CallContext | undefined): Promise<boolean> {
    const { layers, directory } = this.#parts
    let layered = layers.find('/')
    for (const name of path.split('/').filter((each) => each !== '')) {
      layered = layers.enter(layered, name)
      if (layered.source === 'fork') return false
    }
    if (!isLinkable(directory)) return true
    try {
      return (await directory.realpath(path, { followLast }, ctx)) === path
    } catch (error) {
      // A link that this call must not follow. The fork may have removed it.
      if (isVfsError(error, 'ELOOP')) return false
      throw error
    }
  }

  /** Returns the target of a link as a path of the fork; null if there is no link. Throws EACCES if it leads out. */
  async #findTarget(path: string, op: string, ctx: CallContext | undefined): Promise<string | null> {
    const fs = this.findLayer(path)
    if (fs === undefined || !isLinkable(fs)) return null
    if ((await this.findStat(path, ctx))?.type !== 'symlink') return null
    const target = await fs.readlink(path, refuseLinks(ctx))
    const { root } = this.#parts
    const leadsTo = resolve(root + dirname(path), target)
    if (!isWithin(leadsTo, root))
      throw new VfsError('EACCES', path, { op, detail: `the link leads out of the directory: ${target}` })
    return target.startsWith('/') ? leadsTo.slice(root.length) || '/' : target
  }

  /** Lists a directory; nothing if it cannot be read. */
  async #findEntries(path: string, ctx: CallContext | undefined): Promise<DirEntry[]> {
    try {
      return await this.list(path, ctx)
    } catch (error) {
      if (isVfsError(error)) return []
      throw error
    }
  }

  /** Lists the entries of the directory itself; none if only the fork has it. */
  async #listDirectory(path: string, ctx: CallContext | undefined): Promise<Map<string, FileType>> {
    const types = new Map<string, FileType>()
    try {
      for await (const { name, type } of this.#parts.directory.readdir(path, refuseLinks(ctx)))
        types.set(name, type)
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    return types
  }

  #maskStat(path: string, stat: Stat): Stat {
    const masked = stat.type === 'file' ? this.readMasked(path) : undefined
    return masked === undefined ? stat : { ...stat, size: masked.length }
  }
}

function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR') || isVfsError(error, 'ELOOP')
}
