import { createHash } from 'node:crypto'
import {
  type CallContext,
  createUnsupportedError,
  type DirEntry,
  type FileHandle,
  type FileSystem,
  type InodeIdentity,
  isAttributed,
  isHardLinkable,
  isLinkable,
  isOpenable,
  isSynchronous,
  isVfsError,
  type MkdirOptions,
  move,
  type OpenOptions,
  type RealpathOptions,
  type RemoveOptions,
  type RenameOptions,
  type StatChanges,
  type SyncFileSystem,
  type SyncStat,
  VfsError,
} from '../../vfs/index.ts'
import type { Awaitable, AwaitableFile } from './awaitable-file.ts'
import { SharedHandles } from './shared-handles.ts'

/** Methods of a synchronous file system with results that may be promises. */
export type AwaitableFileSystem = {
  [Name in Exclude<keyof SyncFileSystem, 'open'>]: (
    ...args: Parameters<SyncFileSystem[Name]>
  ) => Awaitable<ReturnType<SyncFileSystem[Name]>>
} & { open(path: string, options?: OpenOptions, ctx?: CallContext): Awaitable<AwaitableFile> }

/** Adapts a file system, using its synchronous interface if it has one. */
export function toAwaitable(fs: FileSystem): AwaitableFileSystem {
  return isSynchronous(fs) ? fs.sync : new ComposedFiles(fs)
}

class ComposedFiles implements AwaitableFileSystem {
  readonly #fs: FileSystem
  readonly #handles: SharedHandles

  constructor(fs: FileSystem) {
    this.#fs = fs
    this.#handles = new SharedHandles(fs, (path, ctx) => this.#getIdentity(path, ctx))
  }

  async stat(path: string, ctx?: CallContext): Promise<SyncStat> {
    const stat = await this.#fs.stat(path, ctx)
    const openStat = stat.type === 'file' && this.#handles.stat(await this.realpath(path, {}, ctx))
    return openStat || { ...stat, ...(await this.#getIdentity(path, ctx)) }
  }

  readdir(path: string, ctx?: CallContext): Promise<DirEntry[]> {
    return Array.fromAsync(this.#fs.readdir(path, ctx))
  }

  async open(path: string, options: OpenOptions = {}, ctx?: CallContext): Promise<AwaitableFile> {
    const real = await this.realpath(path, { followLast: true }, ctx)
    if (!isOpenable(this.#fs)) return this.#handles.open(real, options, ctx)
    try {
      const handle = await this.#fs.open(path, options, ctx)
      return new IdentifiedHandle(handle, await this.#getIdentity(real, ctx))
    } catch (error) {
      // A mount table declares the union of its mounts' capabilities.
      if (isVfsError(error, 'ENOTSUP')) return this.#handles.open(real, options, ctx)
      throw error
    }
  }

  mkdir(path: string, options?: MkdirOptions, ctx?: CallContext): Promise<void> {
    return this.#fs.mkdir(path, options, ctx)
  }

  async remove(path: string, options?: RemoveOptions, ctx?: CallContext): Promise<void> {
    const realPath = await this.realpath(path, {}, ctx)
    await this.#handles.unlink(realPath, () => this.#fs.remove(path, options, ctx))
  }

  async rmdir(path: string, ctx?: CallContext): Promise<void> {
    const { type } = await this.#fs.stat(path, ctx)
    if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'rmdir' })
    for await (const _ of this.#fs.readdir(path, ctx)) throw new VfsError('ENOTEMPTY', path, { op: 'rmdir' })
    await this.#fs.remove(path, { recursive: true }, ctx)
  }

  async rename(from: string, to: string, options?: RenameOptions, ctx?: CallContext): Promise<void> {
    const [source, target] = [await this.realpath(from, {}, ctx), await this.realpath(to, {}, ctx)]
    await this.#handles.rename(source, target, ctx, () => move(this.#fs, from, to, options, ctx))
  }

  async symlink(target: string, path: string, ctx?: CallContext): Promise<void> {
    if (!isLinkable(this.#fs)) throw createUnsupportedError('symlink', path)
    await this.#fs.symlink(target, path, ctx)
  }

  async readlink(path: string, ctx?: CallContext): Promise<string> {
    if (!isLinkable(this.#fs))
      throw new VfsError('EINVAL', path, { op: 'readlink', detail: 'not a symbolic link' })
    return this.#fs.readlink(path, ctx)
  }

  async realpath(path: string, options?: RealpathOptions, ctx?: CallContext): Promise<string> {
    return isLinkable(this.#fs) ? this.#fs.realpath(path, options, ctx) : path
  }

  async link(existing: string, path: string, ctx?: CallContext): Promise<void> {
    if (!isHardLinkable(this.#fs)) throw createUnsupportedError('link', path)
    await this.#handles.sync(await this.realpath(existing, {}, ctx))
    await this.#fs.link(existing, path, ctx)
  }

  async setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void> {
    if (!isAttributed(this.#fs)) throw createUnsupportedError('setattr', path)
    await this.#fs.setattr(path, changes, ctx)
  }

  /** Returns the identity of a file; without inode numbers each file has one name, which identifies it. */
  async #getIdentity(path: string, ctx?: CallContext): Promise<InodeIdentity> {
    if (!isHardLinkable(this.#fs)) return { ino: hashPath(path), nlink: 1 }
    try {
      return await this.#fs.identity(path, ctx)
    } catch (error) {
      // Some mounts of a table have inode numbers and some do not.
      if (isVfsError(error, 'ENOTSUP')) return { ino: hashPath(path), nlink: 1 }
      throw error
    }
  }
}

/** An open file that knows its identity. */
class IdentifiedHandle implements AwaitableFile {
  readonly #handle: FileHandle
  readonly #identity: InodeIdentity

  constructor(handle: FileHandle, identity: InodeIdentity) {
    this.#handle = handle
    this.#identity = identity
  }

  read(position: number, length: number): Promise<Uint8Array> {
    return this.#handle.read(position, length)
  }

  write(position: number, bytes: Uint8Array): Promise<void> {
    return this.#handle.write(position, bytes)
  }

  truncate(size: number): Promise<void> {
    return this.#handle.truncate(size)
  }

  async stat(): Promise<SyncStat> {
    return { ...(await this.#handle.stat()), ...this.#identity }
  }

  sync(): Promise<void> {
    return this.#handle.sync()
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}

/** Returns 48 bits of a digest, a whole number that identifies a path. */
function hashPath(path: string): number {
  return createHash('sha1').update(path).digest().readUIntBE(0, 6)
}
