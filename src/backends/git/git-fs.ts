import { createHash } from 'node:crypto'
import {
  assertLinkFree,
  Backend,
  byteStream,
  type CallContext,
  type Capability,
  type ContentAddressed,
  createLazyStream,
  type Diffable,
  type DirEntry,
  type FileSystem,
  type Forkable,
  type Linkable,
  type MaterializeOptions,
  type PathChange,
  type ReadOptions,
  type RealpathOptions,
  type Stat,
  VfsError,
  type WalkEntry,
  type WalkOptions,
} from '../../vfs/index.ts'
import type { Commit } from './commit-object.ts'
import { type DiffSide, diffGitTrees } from './diff-git-trees.ts'
import { assertFile, GitTree } from './git-tree.ts'
import { GitTreeWalk } from './git-tree-walk.ts'
import type { ObjectReader } from './object-reader.ts'
import { TreeCache } from './tree-cache.ts'
import type { TreeEntry } from './tree-object.ts'

const CAPABILITIES: ReadonlySet<Capability> = new Set([
  'read',
  'native-walk',
  'lazy',
  'link',
  'hash',
  'diff',
  'fork',
])
/** Largest blob that is read into memory; larger ones are streamed. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024

/** A submodule of a commit, with the commit of the other repository. */
export interface Submodule {
  readonly path: string
  readonly commit: string
}

/**
 * A repository at one commit, as a read-only file system. Objects are read on demand, and a walk reads no content.
 * Every time is the commit's. A submodule is an empty directory; `submodules` lists them.
 * Names that no path can have, such as those that are not UTF-8, are omitted. Dispose of it: a Git process may back it.
 */
export class GitFs
  extends Backend
  implements AsyncDisposable, Linkable, ContentAddressed, Diffable, Forkable
{
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly commit: Commit
  readonly #reader: ObjectReader
  readonly #trees: TreeCache
  readonly #tree: GitTree

  /** Owns the reader and disposes of it. `openGit` makes both. */
  constructor(reader: ObjectReader, commit: Commit) {
    super()
    this.commit = commit
    this.#reader = reader
    this.#trees = new TreeCache(reader)
    this.#tree = new GitTree(reader, this.#trees, commit.tree)
  }

  /** Returns itself, since it never changes. */
  fork(): GitFs {
    return this
  }

  symlink(_target: string, path: string, ctx?: CallContext): Promise<void> {
    return this.mutate({ op: 'symlink', path, ctx }, () => {})
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, async (checked, inner) => {
      const entry = await this.#find(checked, 'readlink', false, inner)
      if (entry.type === 'symlink') return this.#tree.readTarget(checked, entry)
      throw new VfsError('EINVAL', checked, { op: 'readlink', detail: 'not a symbolic link' })
    })
  }

  realpath(path: string, { followLast = false }: RealpathOptions = {}, ctx?: CallContext): Promise<string> {
    return this.call('realpath', path, ctx, async (checked, inner) => {
      const resolved = await this.#tree.resolve(checked, followLast, 'realpath')
      assertLinkFree(checked, resolved, 'realpath', inner)
      return resolved
    })
  }

  hash(path: string, ctx?: CallContext): Promise<string> {
    return this.call('hash', path, ctx, async (checked, inner) => {
      const state = createHash('sha256')
      const entry = assertFile(checked, await this.#find(checked, 'hash', true, inner), 'hash')
      for await (const chunk of this.#content(entry, 0, Number.POSITIVE_INFINITY)) state.update(chunk)
      return state.digest('hex')
    })
  }

  /** Returns null unless the other is a repository at a commit too, with the same kind of ids. */
  diffFrom(before: FileSystem): AsyncIterable<PathChange> | null {
    if (!(before instanceof GitFs) || before.commit.id.length !== this.commit.id.length) return null
    return diffGitTrees(before.#toDiffSide(), this.#toDiffSide())
  }

  /** Yields every submodule at or below a path, in walk order. */
  async *submodules(root = '/'): AsyncGenerator<Submodule> {
    for await (const { path, stat } of this.walk(root, { includeDirs: true })) {
      if (stat.type !== 'directory') continue
      const entry = await this.#find(path, 'stat', false)
      if (entry.isSubmodule) yield { path, commit: entry.id }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader[Symbol.asyncDispose]()
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    const entry = await this.#find(path, 'stat', false, ctx)
    if (entry.size === undefined) await this.#trees.loadSizes([entry])
    return this.#toStat(entry)
  }

  protected doReaddir(path: string, ctx?: CallContext): AsyncIterable<DirEntry> {
    return createLazyStream<DirEntry>(async () => {
      const found = await this.#find(path, 'readdir', true, ctx)
      if (found.type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'readdir' })
      const entries = found.isSubmodule ? [] : (await this.#trees.get(found.id)).entries
      const remaining = entries.values()
      return () => {
        const entry = remaining.next().value
        return entry && { name: entry.name, type: entry.type }
      }
    })
  }

  protected doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array> {
    return byteStream((start, length) => this.#range(path, start, length, ctx), path, options)
  }

  protected override doWalk(root: string, options: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry> {
    return createLazyStream<WalkEntry>(async () => {
      const found = await this.#tree.find(root, 'walk', true, ctx)
      if (found?.type !== 'directory' || found.isSubmodule) return () => undefined
      const walk = new GitTreeWalk(root, found.id, { ...options, ...this.#toDiffSide() })
      return () => walk.next()
    })
  }

  /**
   * Reads every directory at or below the prefix and the sizes of all files. A partial clone fetches what it lacks
   * in one batch.
   */
  protected override async doMaterialize(
    { prefix = '/' }: MaterializeOptions,
    ctx?: CallContext,
  ): Promise<void> {
    const found = await this.#tree.find(prefix, 'materialize', true, ctx)
    if (found === undefined) return
    const entries = [found]
    // The same tree may occur at many paths, and is loaded once.
    const loadedTrees = new Set<string>()
    let directories = await this.#trees.load(listNewTrees([found], loadedTrees))
    while (directories.length > 0) {
      ctx?.signal?.throwIfAborted()
      const children = directories.flatMap((directory) => directory.entries)
      for (const entry of children) entries.push(entry)
      directories = await this.#trees.load(listNewTrees(children, loadedTrees))
    }
    await this.#trees.loadSizes(entries)
  }

  async *#range(path: string, start: number, length: number, ctx?: CallContext): AsyncGenerator<Uint8Array> {
    const entry = assertFile(path, await this.#find(path, 'read', true, ctx), 'read')
    yield* this.#content(entry, start, length)
  }

  async *#content(entry: TreeEntry, start: number, length: number): AsyncGenerator<Uint8Array> {
    if (entry.size === undefined) await this.#trees.loadSizes([entry])
    if ((entry.size ?? 0) <= MAX_BUFFERED_BYTES) {
      const [blob] = await this.#reader.objects([entry.id])
      if (blob !== undefined) yield blob.bytes.subarray(start, start + length)
      return
    }
    let position = 0
    for await (const chunk of this.#reader.stream(entry.id)) {
      const part = chunk.subarray(Math.max(0, start - position), Math.max(0, start + length - position))
      position += chunk.length
      if (part.length > 0) yield part
      if (position >= start + length) return
    }
  }

  async #find(path: string, op: string, followLast: boolean, ctx?: CallContext): Promise<TreeEntry> {
    const entry = await this.#tree.find(path, op, followLast, ctx)
    if (entry !== undefined) return entry
    throw await this.#tree.createMissingError(path, op)
  }

  #toDiffSide(): DiffSide {
    return { root: this.commit.tree, trees: this.#trees, toStat: (entry) => this.#toStat(entry) }
  }

  #toStat({ type, size = 0, mode }: TreeEntry): Stat {
    return { type, size: type === 'directory' ? 0 : size, mtime: this.commit.time, mode }
  }
}

/** Returns the trees among entries that are not in `loadedTrees` yet, and adds them. */
function listNewTrees(entries: readonly TreeEntry[], loadedTrees: Set<string>): string[] {
  return entries.flatMap(({ type, isSubmodule, id }) => {
    if (type !== 'directory' || isSubmodule || loadedTrees.has(id)) return []
    loadedTrees.add(id)
    return [id]
  })
}
