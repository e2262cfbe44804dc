import {
  append,
  type CallContext,
  dirname,
  type FileSystem,
  isHardLinkable,
  isLinkable,
  isSynchronous,
  isVfsError,
  move,
  type StatChanges,
  VfsError,
} from '../../vfs/index.ts'
import { copyTree } from './copy-tree.ts'
import { followLinks } from './follow-links.ts'
import { setAttributes } from './set-attributes.ts'
import type { ShellView } from './shell-view.ts'
import type { SystemFiles } from './system-files.ts'

/** Changes made by a script. The shell's own files are read-only (EROFS), and devices discard writes. */
export class ShellChanges {
  readonly #fs: FileSystem
  readonly #system: SystemFiles
  readonly #view: ShellView
  readonly #ctx: CallContext | undefined

  constructor(fs: FileSystem, system: SystemFiles, view: ShellView, ctx: CallContext | undefined) {
    this.#fs = fs
    this.#system = system
    this.#view = view
    this.#ctx = ctx
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    if (!(await this.#discardsWrites(path))) await this.#fs.write(path, bytes, {}, this.#ctx)
  }

  async append(path: string, bytes: Uint8Array): Promise<void> {
    if (await this.#discardsWrites(path)) return
    // Each `>>` first appends nothing as a probe; it must not change an existing file.
    if (bytes.length === 0 && (await this.#isFile(path))) return
    await append(this.#fs, path, bytes, this.#ctx)
  }

  async mkdir(path: string, parents: boolean): Promise<void> {
    this.#assertNotSystemFile(path)
    if (this.#system.isDirectory(path)) {
      if (parents) return
      throw new VfsError('EEXIST', path, { op: 'mkdir' })
    }
    // A directory of the shell may not exist in the file system yet.
    const isBelowOwn = this.#system.isDirectory(dirname(path)) && !(await this.#view.exists(path))
    await this.#fs.mkdir(path, { parents: parents || isBelowOwn }, this.#ctx)
  }

  async remove(path: string, { recursive, force }: RemovalOptions): Promise<void> {
    this.#assertNotSystemFile(path)
    try {
      const { type } = await this.#fs.stat(path, this.#ctx)
      if (type === 'directory' && !recursive) return await this.#rmdir(path)
      await this.#fs.remove(path, { recursive }, this.#ctx)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
      if (this.#system.isDirectory(path)) {
        const detail = 'the directory belongs to the shell and cannot be removed'
        throw new VfsError('EROFS', path, { op: 'remove', detail })
      }
      if (!force) throw error
    }
  }

  async copy(from: string, to: string, recursive: boolean): Promise<void> {
    this.#assertNotSystemFile(to)
    if (this.#system.isFile(from)) return this.write(to, await this.#view.read(from))
    const source = recursive ? from : await followLinks(this.#fs, from, this.#ctx)
    const { type } = await this.#fs.stat(source, this.#ctx)
    if (type === 'directory' && !recursive) throw new VfsError('EISDIR', from, { op: 'copy' })
    await copyTree(this.#fs, source, to, this.#ctx)
  }

  async move(from: string, to: string): Promise<void> {
    this.#assertNotSystemFile(from)
    this.#assertNotSystemFile(to)
    await move(this.#fs, from, to, { overwrite: true, across: true }, this.#ctx)
  }

  async symlink(target: string, path: string): Promise<void> {
    this.#assertNotSystemFile(path)
    if (!isLinkable(this.#fs)) throw createUnsupportedError(path, 'this file system has no symbolic links')
    await this.#fs.symlink(target, path, this.#ctx)
  }

  async link(existing: string, path: string): Promise<void> {
    this.#assertNotSystemFile(existing)
    this.#assertNotSystemFile(path)
    if (!isHardLinkable(this.#fs)) throw createUnsupportedError(path, 'this file system has no hard links')
    await this.#fs.link(existing, path, this.#ctx)
  }

  /** Sets metadata; ignored on file systems without it, so that scripts continue. */
  async setattr(path: string, changes: StatChanges): Promise<void> {
    this.#assertNotSystemFile(path)
    const isSet = await setAttributes(this.#fs, path, changes, this.#ctx)
    if (!isSet) await this.#view.stat(path)
  }

  async #rmdir(path: string): Promise<void> {
    if (isSynchronous(this.#fs)) return this.#fs.sync.rmdir(path, this.#ctx)
    for await (const _ of this.#fs.readdir(path, this.#ctx)) {
      throw new VfsError('ENOTEMPTY', path, { op: 'remove' })
    }
    await this.#fs.remove(path, { recursive: true }, this.#ctx)
  }

  async #isFile(path: string): Promise<boolean> {
    return (await this.#view.exists(path)) && (await this.#view.stat(path)).isFile
  }

  /**
   * True if a path is a device of the shell, or a link to one, where a write would create a hidden file. EROFS for
   * other files of the shell.
   */
  async #discardsWrites(path: string): Promise<boolean> {
    const realPath = this.#system.isFile(path) ? path : await followLinks(this.#fs, path, this.#ctx)
    if (this.#system.isFile(realPath) && realPath.startsWith('/dev/')) return true
    this.#assertNotSystemFile(realPath)
    return false
  }

  #assertNotSystemFile(path: string): void {
    if (this.#system.isFile(path)) throw new VfsError('EROFS', path, { detail: 'a file of the shell' })
  }
}

export interface RemovalOptions {
  /** Remove a directory with its content. */
  readonly recursive: boolean
  /** Ignore a missing path. */
  readonly force: boolean
}

function createUnsupportedError(path: string, detail: string): VfsError {
  return new VfsError('ENOTSUP', path, { detail })
}
