import {
  append,
  type CallContext,
  type DirEntry,
  type FileSystem,
  type InodeIdentity,
  isAttributed,
  isHardLinkable,
  isLinkable,
  isSynchronous,
  isVfsError,
  list,
  move,
  type OpenOptions,
  openFile,
  readFile,
  type Stat,
  type StatChanges,
  type SyncStat,
  trySync,
  VfsError,
} from '../../vfs/index.ts'
import type { MaybeAsync } from './coroutine.ts'
import type { DirectoryCursor, DriverFile, FileSource, FsDriver, WriteMode } from './fs-driver.ts'

/** Identity of files without inode numbers. */
const NO_IDENTITY: InodeIdentity = { ino: 0, nlink: 1 }

/**
 * Driver for any file system. Uses the synchronous interface, if there is one, for stats, cursors, open files and
 * `rmdir`.
 */
export class AsyncDriver implements FsDriver {
  readonly isWritable: boolean
  readonly #fs: FileSystem
  readonly #ctx: CallContext | undefined

  constructor(fs: FileSystem, ctx: CallContext | undefined) {
    this.isWritable = fs.capabilities.has('write')
    this.#fs = fs
    this.#ctx = ctx
  }

  lstat(path: string): MaybeAsync<SyncStat> {
    const syncStat = trySync(this.#fs, (sync) => sync.stat(path, this.#ctx))
    return syncStat ?? this.#withIdentity(path, this.#fs.stat(path, this.#ctx))
  }

  realpath(path: string): MaybeAsync<string> {
    const fs = this.#fs
    if (!isLinkable(fs)) return path
    return fs.realpath(path, { followLast: true }, this.#ctx)
  }

  readdir(path: string): Promise<DirEntry[]> {
    return list(this.#fs, path, this.#ctx)
  }

  list(path: string): DirectoryCursor {
    // A synchronous cursor serves `readSync` and `read` alike.
    const entries = trySync(this.#fs, (sync) => sync.readdir(path, this.#ctx))?.values()
    if (entries !== undefined) return { isSync: true, next: () => entries.next().value, close: () => {} }
    const iterator = this.#fs.readdir(path, this.#ctx)[Symbol.asyncIterator]()
    return {
      isSync: false,
      next: async () => {
        const { done, value } = await iterator.next()
        return done ? undefined : value
      },
      close: async () => {
        await iterator.return?.()
      },
    }
  }

  open(path: string, options: OpenOptions): MaybeAsync<DriverFile> {
    // One kind of descriptor for all calls, which stays valid after an unlink.
    const syncHandle = trySync(this.#fs, (sync) => sync.open(path, options, this.#ctx))
    return syncHandle ?? this.#openFile(path, options)
  }

  readFile(path: string): Promise<Uint8Array> {
    return readFile(this.#fs, path, undefined, this.#ctx)
  }

  async writeFile(path: string, content: FileSource, { exclusive, mode }: WriteMode): Promise<void> {
    const options = {
      parents: false,
      ...(exclusive && { ifMatch: null }),
      ...(mode !== undefined && { mode }),
    }
    try {
      await this.#fs.write(path, content, options, this.#ctx)
    } catch (error) {
      if (!exclusive || !isVfsError(error, 'ECONFLICT')) throw error
      throw new VfsError('EEXIST', path, { op: 'open', cause: error })
    }
  }

  copyFile(from: string, to: string, mode: WriteMode): Promise<void> {
    return this.writeFile(to, this.#fs.read(from, undefined, this.#ctx), mode)
  }

  append(path: string, content: Uint8Array): Promise<void> {
    return append(this.#fs, path, content, this.#ctx)
  }

  mkdir(path: string, mode: number): Promise<void> {
    return this.#fs.mkdir(path, { mode }, this.#ctx)
  }

  remove(path: string, recursive: boolean): Promise<void> {
    return this.#fs.remove(path, { recursive }, this.#ctx)
  }

  rmdir(path: string): MaybeAsync<void> {
    const fs = this.#fs
    return isSynchronous(fs) ? fs.sync.rmdir(path, this.#ctx) : this.#removeEmpty(path)
  }

  rename(from: string, to: string): Promise<void> {
    return move(this.#fs, from, to, { overwrite: true }, this.#ctx)
  }

  symlink(target: string, path: string): Promise<void> {
    const fs = this.#fs
    if (!isLinkable(fs))
      throw createUnsupportedError('symlink', path, 'this file system has no symbolic links')
    return fs.symlink(target, path, this.#ctx)
  }

  readlink(path: string): MaybeAsync<string> {
    const fs = this.#fs
    if (!isLinkable(fs)) throw new VfsError('EINVAL', path, { op: 'readlink' })
    return fs.readlink(path, this.#ctx)
  }

  link(existing: string, path: string): Promise<void> {
    const fs = this.#fs
    if (!isHardLinkable(fs)) throw createUnsupportedError('link', path, 'this file system has no hard links')
    return fs.link(existing, path, this.#ctx)
  }

  setattr(path: string, changes: StatChanges): Promise<void> {
    const fs = this.#fs
    if (!isAttributed(fs))
      throw createUnsupportedError('setattr', path, 'this file system cannot set attributes')
    return fs.setattr(path, changes, this.#ctx)
  }

  async #withIdentity(path: string, stat: Promise<Stat>): Promise<SyncStat> {
    const [baseStat, identity] = await Promise.all([stat, this.#findIdentity(path)])
    return { ...baseStat, ...identity }
  }

  async #findIdentity(path: string): Promise<InodeIdentity> {
    const fs = this.#fs
    if (!isHardLinkable(fs)) return NO_IDENTITY
    try {
      return await fs.identity(path, this.#ctx)
    } catch (error) {
      // A mount table declares the union of its mounts' capabilities.
      if (isVfsError(error, 'ENOTSUP')) return NO_IDENTITY
      throw error
    }
  }

  async #openFile(path: string, options: OpenOptions): Promise<DriverFile> {
    const file = await openFile(this.#fs, path, options, this.#ctx)
    const { ino, nlink } = await this.lstat(await this.realpath(path))
    return {
      read: (position, length) => file.read(position, length),
      write: (position, bytes) => file.write(position, bytes),
      truncate: (size) => file.truncate(size),
      stat: async () => ({ ...(await file.stat()), ino, nlink }),
      sync: () => file.sync(),
      close: () => file.close(),
    }
  }

  /** Removes an empty directory. Checks first: a file created in between is lost. */
  async #removeEmpty(path: string): Promise<void> {
    const { type } = await this.#fs.stat(path, this.#ctx)
    if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'rmdir' })
    for await (const _ of this.#fs.readdir(path, this.#ctx))
      throw new VfsError('ENOTEMPTY', path, { op: 'rmdir' })
    await this.#fs.remove(path, { recursive: true }, this.#ctx)
  }
}

function createUnsupportedError(op: string, path: string, detail: string): VfsError {
  return new VfsError('ENOTSUP', path, { op, detail })
}
