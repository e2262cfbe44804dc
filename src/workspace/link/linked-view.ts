import { resolve } from 'node:path'
import {
  type CallContext,
  child,
  type DirEntry,
  dirname,
  type FileSystem,
  type FileType,
  isLinkable,
  isVfsError,
  isWithin,
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
  /** True if the fork has nothing in the directory that the entry is in, so that it is surely that of the directory. */
  readonly isUntouched: boolean
}

/** The directory with the changes of a fork on top, for one operation. Paths have no links unless a method resolves them. */
export class LinkedView {
  readonly #parts: ViewParts

  constructor(parts: ViewParts) {
    this.#parts = parts
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
      if (isMissing(error) && layers.hasChangesBelow(found, true)) return vault.stat(path, refuseLinks(ctx))
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

  async *list(path: string, ctx: CallContext | undefined): AsyncGenerator<DirEntry> {
    const { layers, directory } = this.#parts
    const { type } = await this.stat(path, ctx)
    if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
    const found = layers.find(path)
    const known = new Map(layers.listNames(found).map((name) => [name, layers.enter(found, name)]))
    if (known.size === 0 && found.source === 'directory') {
      yield* directory.readdir(path, refuseLinks(ctx))
      return
    }
    const types = found.isOpen ? await this.#listDirectory(path, ctx) : new Map<string, FileType>()
    for (const [name, entry] of known) {
      if (entry.source === undefined) types.delete(name)
      else if (entry.source === 'fork' || layers.hasChangesBelow(entry, true))
        types.set(name, (await this.stat(child(path, name), ctx)).type)
    }
    for (const name of [...types.keys()].sort()) yield { name, type: types.get(name) ?? 'other' }
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
    for await (const { name } of skipFailed(this.list(root, ctx))) {
      const path = child(root, name)
      const stat = await this.findStat(path, ctx)
      if (stat === undefined) continue
      if (stat.type !== 'directory' || includeDirs) yield { path, stat, isUntouched: false }
      if (stat.type === 'directory') yield* this.walk(path, { maxDepth: maxDepth - 1, includeDirs }, ctx)
    }
  }

  /** Resolves the links in a path, in the fork and in the directory. Throws EACCES for one that leads out. */
  async resolve(
    path: string,
    followLast: boolean,
    op: string,
    ctx: CallContext | undefined,
  ): Promise<string> {
    if (await this.#isLinkFree(path, followLast, ctx)) return path
    return resolveLinks(path, followLast, op, (link) => this.#findTarget(link, op, ctx))
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

/** Ends a listing that cannot be read any further. */
async function* skipFailed<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items
  } catch (error) {
    if (!isVfsError(error)) throw error
  }
}
