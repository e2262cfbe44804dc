import {
  type CallContext,
  type DirEntry,
  dirname,
  type FileSystem,
  isVfsError,
  type OpenOptions,
  type StatChanges,
  type SyncFileHandle,
  type SyncFileSystem,
  type Synchronous,
  type SyncStat,
  VfsError,
} from '../../vfs/index.ts'
import type { DirectoryCursor, FileSource, FsDriver, WriteMode } from './fs-driver.ts'

const COPY_BYTES = 1024 * 1024
const NEW_CONTENT: OpenOptions = { write: true, create: true, truncate: true }

/** Driver for a file system with a synchronous interface. */
export class SyncDriver implements FsDriver {
  readonly isWritable: boolean
  readonly #fs: SyncFileSystem
  readonly #ctx: CallContext | undefined

  constructor(fs: FileSystem & Synchronous, ctx: CallContext | undefined) {
    this.isWritable = fs.capabilities.has('write')
    this.#fs = fs.sync
    this.#ctx = ctx
  }

  lstat(path: string): SyncStat {
    return this.#fs.stat(path, this.#ctx)
  }

  realpath(path: string): string {
    return this.#fs.realpath(path, { followLast: true }, this.#ctx)
  }

  readdir(path: string): DirEntry[] {
    return this.#fs.readdir(path, this.#ctx)
  }

  list(path: string): DirectoryCursor {
    const entries = this.readdir(path).values()
    return { isSync: true, next: () => entries.next().value, close: () => {} }
  }

  open(path: string, options: OpenOptions): SyncFileHandle {
    return this.#fs.open(path, options, this.#ctx)
  }

  readFile(path: string): Uint8Array {
    return this.#withFile(path, {}, (file) => file.read(0, file.stat().size))
  }

  writeFile(path: string, content: FileSource, { exclusive, mode }: WriteMode): void {
    if (!(content instanceof Uint8Array)) {
      throw new TypeError('a synchronous call was given a stream; pass text or bytes')
    }
    this.#assertCreatable(path, exclusive)
    this.#withFile(path, NEW_CONTENT, (file) => {
      if (content.length > 0) file.write(0, content)
    })
    if (mode !== undefined) this.setattr(path, { mode })
  }

  copyFile(from: string, to: string, { exclusive, mode }: WriteMode): void {
    this.#assertCreatable(to, exclusive)
    this.#withFile(from, {}, (source) => {
      this.#withFile(to, NEW_CONTENT, (target) => {
        for (let offset = 0; ; offset += COPY_BYTES) {
          const chunk = source.read(offset, COPY_BYTES)
          if (chunk.length > 0) target.write(offset, chunk)
          if (chunk.length < COPY_BYTES) return
        }
      })
    })
    if (mode !== undefined) this.setattr(to, { mode })
  }

  append(path: string, content: Uint8Array): void {
    this.#withFile(path, { write: true, append: true }, (file) => file.write(file.stat().size, content))
  }

  mkdir(path: string, mode: number): void {
    this.#fs.mkdir(path, { mode }, this.#ctx)
  }

  remove(path: string, recursive: boolean): void {
    this.#fs.remove(path, { recursive }, this.#ctx)
  }

  rmdir(path: string): void {
    this.#fs.rmdir(path, this.#ctx)
  }

  rename(from: string, to: string): void {
    this.#fs.rename(from, to, { overwrite: true }, this.#ctx)
  }

  symlink(target: string, path: string): void {
    this.#fs.symlink(target, path, this.#ctx)
  }

  readlink(path: string): string {
    return this.#fs.readlink(path, this.#ctx)
  }

  link(existing: string, path: string): void {
    this.#fs.link(existing, path, this.#ctx)
  }

  setattr(path: string, changes: StatChanges): void {
    this.#fs.setattr(path, changes, this.#ctx)
  }

  /**
   * Asserts that a file can be written. EEXIST if it is exclusive and exists; ENOENT or ENOTDIR if the parent of a new
   * file is not a directory.
   */
  #assertCreatable(path: string, isExclusive = false): void {
    const found = this.#lstatIfPresent(path)
    if (found !== undefined && isExclusive) throw new VfsError('EEXIST', path, { op: 'open' })
    if (found !== undefined && found.type !== 'symlink') return
    const parent = dirname(this.realpath(path))
    const { type } = this.lstat(this.realpath(parent))
    if (type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'open' })
  }

  #lstatIfPresent(path: string): SyncStat | undefined {
    try {
      return this.lstat(path)
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return undefined
      throw error
    }
  }

  #withFile<T>(path: string, options: OpenOptions, use: (file: SyncFileHandle) => T): T {
    const file = this.open(path, options)
    try {
      return use(file)
    } finally {
      file.close()
    }
  }
}
