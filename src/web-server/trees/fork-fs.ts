import {
  Backend,
  type CallContext,
  type Capability,
  type DirEntry,
  type FileSystem,
  isLinkable,
  isVfsError,
  type Linkable,
  type ReadOptions,
  type Stat,
  VfsError,
} from '../../vfs/index.ts'

/** The trees that make the files of a fork of a directory. */
export interface ForkFsTrees {
  /** The changed paths, as they are in the fork. */
  readonly after: FileSystem
  /** The same paths as they were in the directory. One that only this tree has is deleted in the fork. */
  readonly before: FileSystem
  /** All other paths. */
  readonly directory: FileSystem
}

const CAPABILITIES: ReadonlySet<Capability> = new Set(['read', 'link'])

/** The files of a fork of a directory, for reading: the changed ones of the fork over those of the directory. */
export class ForkFs extends Backend implements Linkable {
  readonly capabilities: ReadonlySet<Capability> = CAPABILITIES
  readonly #trees: ForkFsTrees

  constructor(trees: ForkFsTrees) {
    super()
    this.#trees = trees
  }

  async symlink(_target: string, path: string): Promise<void> {
    throw new VfsError('EROFS', path, { op: 'symlink' })
  }

  readlink(path: string, ctx?: CallContext): Promise<string> {
    return this.call('readlink', path, ctx, async (checked, inner) => {
      const fs = await this.#locate(checked, inner)
      if (isLinkable(fs)) return fs.readlink(checked, inner)
      throw new VfsError('EINVAL', checked, { op: 'readlink' })
    })
  }

  async realpath(path: string): Promise<string> {
    return path
  }

  protected async doStat(path: string, ctx?: CallContext): Promise<Stat> {
    return (await this.#locate(path, ctx)).stat(path, ctx)
  }

  protected async *doRead(path: string, options: ReadOptions, ctx?: CallContext): AsyncGenerator<Uint8Array> {
    yield* (await this.#locate(path, ctx)).read(path, options, ctx)
  }

  protected async *doReaddir(path: string, ctx?: CallContext): AsyncGenerator<DirEntry> {
    const { after, before, directory } = this.#trees
    const fs = await this.#locate(path, ctx)
    const own = await Array.fromAsync(fs.readdir(path, ctx))
    if (fs !== after) return yield* own
    const covered = new Set([...own, ...(await listEntries(before, path, ctx))].map(({ name }) => name))
    const others = (await listEntries(directory, path, ctx)).filter(({ name }) => !covered.has(name))
    yield* [...own, ...others].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  /** Returns the tree that has a path. ENOENT if the fork deleted it, or a directory above. */
  async #locate(path: string, ctx?: CallContext): Promise<FileSystem> {
    const { after, before, directory } = this.#trees
    for (const prefix of listPrefixes(path)) {
      if (await after.exists(prefix, ctx)) continue
      if (await before.exists(prefix, ctx)) throw new VfsError('ENOENT', path)
      return directory
    }
    return after
  }
}

/** Lists a path and the directories above it, the highest first. */
function listPrefixes(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '')
  return names.map((_name, index) => `/${names.slice(0, index + 1).join('/')}`)
}

async function listEntries(fs: FileSystem, path: string, ctx?: CallContext): Promise<DirEntry[]> {
  try {
    return await Array.fromAsync(fs.readdir(path, ctx))
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return []
    throw error
  }
}
