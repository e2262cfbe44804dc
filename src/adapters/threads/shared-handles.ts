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
 * Open files of one interpreter on a file system that only reads and replaces files. All handles of a file share
 * its unsaved content, and the file survives an unlink, as on a disk.
 * Paths are real ones.
 */
export class SharedHandles {
  readonly #fs: FileSystem
  readonly #identify: Identify
  readonly #open = new Map<string, SharedHandle>()

  constructor(fs: FileSystem, identify: Identify) {
    this.#fs = fs
    this.#identify = identify
  }

  async open(path: string, options: OpenOptions, ctx?: CallContext): Promise<AwaitableFile> {
    const { write: isWritable = false, append: isAppending = false, truncate = false } = options
    const open = this.#open.get(path)
    if (open === undefined) {
      const handle = await openFile(this.#fs, path, options, ctx)
      const identity = await this.#identify(path, ctx)
      const made = { handle, identity, path, isWritable, isAppending, users: 0 }
      this.#open.set(path, made)
      return this.#createUser(made, isWritable)
    }
    const isTooNarrow = !open.isWritable || (open.isAppending && !isAppending)
    if (isWritable && isTooNarrow) await this.#reopen(open, { write: true }, ctx)
    if (truncate) await open.handle.truncate(0)
    return this.#createUser(open, isWritable)
  }

  /** Returns the stat of an open file, including unsaved content. */
  stat(path: string): Promise<SyncStat> | undefined {
    const open = this.#open.get(path)
    return open && statHandle(open)
  }

  async sync(path: string): Promise<void> {
    await this.#open.get(path)?.handle.sync()
  }

  /** Unlinks a name; loads an open file into memory, since afterwards it exists nowhere else. */
  async unlink(path: string, change: () => Promise<void>): Promise<void> {
    const open = this.#open.get(path)
    if (open === undefined) return change()
    await open.handle.sync()
    const { size } = await open.handle.stat()
    const content = await open.handle.read(0, size)
    await change()
    this.#open.delete(path)
    await open.handle.close()
    open.handle = await openFile(new MemoryFs({ '/orphan': content }), '/orphan', { write: true })
    open.identity = { ...open.identity, nlink: 0 }
  }

  /** Moves all open files at or below a path to the new one. */
  async rename(
    from: string,
    to: string,
    ctx: CallContext | undefined,
    change: () => Promise<void>,
  ): Promise<void> {
    const moved = [...this.#open.values()].filter(({ path }) => isWithin(path, from))
    for (const { handle } of moved) await handle.sync()
    await this.unlink(to, change)
    for (const open of moved) {
      this.#open.delete(open.path)
      open.path = `${to}${open.path.slice(from.length)}`
      this.#open.set(open.path, open)
      open.identity = await this.#identify(open.path, ctx)
      await this.#reopen(open, { write: open.isWritable, append: open.isAppending }, ctx)
    }
  }

  async #reopen(open: SharedHandle, options: OpenOptions, ctx?: CallContext): Promise<void> {
    const { handle } = open
    open.handle = await openFile(this.#fs, open.path, options, ctx)
    open.isWritable = options.write === true
    open.isAppending = options.append === true
    await handle.close()
  }

  #createUser(open: SharedHandle, isWritable: boolean): AwaitableFile {
    open.users += 1
    // Other handles may be open for writing.
    const changeable = (op: string) => {
      if (isWritable) return open.handle
      throw new VfsError('EBADF', open.path, {
        op,
        detail: 'the file is open for reading only; open it with write: true',
      })
    }
    return {
      read: (position, length) => open.handle.read(position, length),
      write: (position, bytes) => changeable('write').write(position, bytes),
      truncate: (size) => changeable('truncate').truncate(size),
      stat: () => statHandle(open),
      sync: () => open.handle.sync(),
      close: () => this.#close(open, isWritable),
    }
  }

  /** Stores writes when the writing handle closes, even if others have the file open. */
  async #close(open: SharedHandle, isWritable: boolean): Promise<void> {
    open.users -= 1
    if (open.users > 0) return isWritable ? open.handle.sync() : undefined
    if (this.#open.get(open.path) === open) this.#open.delete(open.path)
    await open.handle.close()
  }
}

async function statHandle({ handle, identity }: SharedHandle): Promise<SyncStat> {
  return { ...(await handle.stat()), ...identity }
}
