import {
  type CallContext,
  type FileHandle,
  type FileSystem,
  type InodeIdentity,
  isWithin,
  MemoryFs,
  type OpenOptions,
  openFile,
  type SyncStat,
  VfsError,
} from '../../vfs/index.ts'
import type { AwaitableFile } from './awaitable-file.ts'

/** Returns the identity of the file at a path. */
type Identify = (path: string, ctx?: CallContext) => Promise<InodeIdentity>

/** A file that is open one or more times. */
interface SharedHandle {
  handle: FileHandle
  identity: InodeIdentity
  path: string
  isWritable: boolean
  /** True if its writes append, as long as no handle writes elsewhere. */
  isAppending: boolean
  users: number
}

/**
 * Open files of another thread on a file system that only reads and replaces files. All handles of a file share
 * its unsaved content, and the file survives an unlink, as on a disk.
 * Paths are real ones.
 */
export class SharedHandles {
  readonly #fs: FileSystem
  readonly #identify: Identify
  readonly #openFiles = new Map<string, SharedHandle>()

  constructor(fs: FileSystem, identify: Identify) {
    this.#fs = fs
    this.#identify = identify
  }

  async open(path: string, options: OpenOptions, ctx?: CallContext): Promise<AwaitableFile> {
    const { write: isWritable = false, append: isAppending = false, truncate = false } = options
    const shared = this.#openFiles.get(path)
    if (shared === undefined) {
      const handle = await openFile(this.#fs, path, options, ctx)
      const identity = await this.#identify(path, ctx)
      const created = { handle, identity, path, isWritable, isAppending, users: 0 }
      this.#openFiles.set(path, created)
      return this.#createUser(created, isWritable)
    }
    const isTooNarrow = !shared.isWritable || (shared.isAppending && !isAppending)
    if (isWritable && isTooNarrow) await this.#reopen(shared, { write: true }, ctx)
    if (truncate) await shared.handle.truncate(0)
    return this.#createUser(shared, isWritable)
  }

  /** Returns the stat of an open file, including unsaved content. */
  stat(path: string): Promise<SyncStat> | undefined {
    const shared = this.#openFiles.get(path)
    return shared && statHandle(shared)
  }

  async sync(path: string): Promise<void> {
    await this.#openFiles.get(path)?.handle.sync()
  }

  /** Unlinks a name; loads an open file into memory, since afterwards it exists nowhere else. */
  async unlink(path: string, change: () => Promise<void>): Promise<void> {
    const shared = this.#openFiles.get(path)
    if (shared === undefined) return change()
    await shared.handle.sync()
    const { size } = await shared.handle.stat()
    const content = await shared.handle.read(0, size)
    await change()
    this.#openFiles.delete(path)
    await shared.handle.close()
    shared.handle = await openFile(new MemoryFs({ '/orphan': content }), '/orphan', { write: true })
    shared.identity = { ...shared.identity, nlink: 0 }
  }

  /** Moves all open files at or below a path to the new one. */
  async rename(
    from: string,
    to: string,
    ctx: CallContext | undefined,
    change: () => Promise<void>,
  ): Promise<void> {
    const moved = [...this.#openFiles.values()].filter(({ path }) => isWithin(path, from))
    for (const { handle } of moved) await handle.sync()
    await this.unlink(to, change)
    for (const shared of moved) {
      this.#openFiles.delete(shared.path)
      shared.path = `${to}${shared.path.slice(from.length)}`
      this.#openFiles.set(shared.path, shared)
      shared.identity = await this.#identify(shared.path, ctx)
      await this.#reopen(shared, { write: shared.isWritable, append: shared.isAppending }, ctx)
    }
  }

  async #reopen(shared: SharedHandle, options: OpenOptions, ctx?: CallContext): Promise<void> {
    const { handle } = shared
    shared.handle = await openFile(this.#fs, shared.path, options, ctx)
    shared.isWritable = options.write === true
    shared.isAppending = options.append === true
    await handle.close()
  }

  #createUser(shared: SharedHandle, isWritable: boolean): AwaitableFile {
    shared.users += 1
    // Other handles may be open for writing.
    const requireWritable = (op: string) => {
      if (isWritable) return shared.handle
      throw new VfsError('EBADF', shared.path, {
        op,
        detail: 'the file is open for reading only; open it with write: true',
      })
    }
    return {
      read: (position, length) => shared.handle.read(position, length),
      write: (position, bytes) => requireWritable('write').write(position, bytes),
      truncate: (size) => requireWritable('truncate').truncate(size),
      stat: () => statHandle(shared),
      sync: () => shared.handle.sync(),
      close: () => this.#close(shared, isWritable),
    }
  }

  /** Stores writes when the writing handle closes, even if others have the file open. */
  async #close(shared: SharedHandle, isWritable: boolean): Promise<void> {
    shared.users -= 1
    if (shared.users > 0) return isWritable ? shared.handle.sync() : undefined
    if (this.#openFiles.get(shared.path) === shared) this.#openFiles.delete(shared.path)
    await shared.handle.close()
  }
}

async function statHandle({ handle, identity }: SharedHandle): Promise<SyncStat> {
  return { ...(await handle.stat()), ...identity }
}
