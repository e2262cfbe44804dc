import { ancestors, child, isVfsError, isWithin, VfsError } from '../../vfs/index.ts'
import type { StorageBackend, StorageEntry, StorageKind, StorageMetadata } from './storage-backend.ts'
import { callStorage } from './storage-errors.ts'

const ROOT: StorageMetadata = { kind: 'directory', size: 0 }

/** Applies the rules of a tree to plain storage: parents exist, and whole trees are removed and moved. */
export class StorageTree {
  readonly #storage: StorageBackend

  constructor(storage: StorageBackend) {
    this.#storage = storage
  }

  /** Returns the metadata of a path. The root exists without asking the storage. ENOENT. */
  async metadata(op: string, path: string): Promise<StorageMetadata> {
    if (path === '/') return ROOT
    try {
      return await callStorage(op, path, () => this.#storage.metadata(path))
    } catch (error) {
      // ENOTDIR below a file means that the path does not exist.
      if (isVfsError(error, 'ENOTDIR')) throw new VfsError('ENOENT', path, { op, cause: error })
      throw error
    }
  }

  /** Returns the type of a path, or undefined if it is missing. */
  async findKind(op: string, path: string): Promise<StorageKind | undefined> {
    try {
      return (await this.metadata(op, path)).kind
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** Returns the entries of a directory. Throws EIO if the storage lists an invalid name. */
  async list(op: string, path: string): Promise<readonly StorageEntry[]> {
    const entries = await callStorage(op, path, () => this.#storage.list(path))
    const stray = entries.find(({ name }) => !isName(name))
    if (stray === undefined) return entries
    throw new VfsError('EIO', path, { op, detail: `the storage listed the invalid name '${stray.name}'` })
  }

  /**
   * Creates missing parents, or throws ENOENT. ENOTDIR if a parent is a file. Checks from the path upwards and stops at
   * the first existing directory, so that a deep path costs no more than others.
   */
  async makeParents(op: string, path: string, parents: boolean): Promise<void> {
    const missing: string[] = []
    for (const directory of ancestors(path).reverse()) {
      const kind = await this.findKind(op, directory)
      if (kind === 'file') throw new VfsError('ENOTDIR', path, { op })
      if (kind === 'directory') break
      missing.unshift(directory)
    }
    if (missing.length > 0 && !parents) throw new VfsError('ENOENT', path, { op })
    for (const directory of missing) await callStorage(op, directory, () => this.#storage.mkdir(directory))
  }

  /** Removes a path with its content. */
  async removeTree(path: string, kind: StorageKind): Promise<void> {
    if (kind === 'directory') {
      for (const entry of await this.list('remove', path)) {
        await this.removeTree(child(path, entry.name), entry.kind)
      }
    }
    await callStorage('remove', path, () => this.#storage.delete(path))
  }

  /** Moves a file or a tree. ENOENT, EINVAL, EEXIST, EISDIR, ENOTDIR, ENOTEMPTY. */
  async rename(from: string, to: string, overwrite: boolean): Promise<void> {
    const { kind } = await this.metadata('rename', from)
    if (from === to) return
    if (isWithin(to, from)) {
      throw new VfsError('EINVAL', from, { op: 'rename', detail: `'${to}' lies inside it` })
    }
    const target = await this.findKind('rename', to)
    if (target !== undefined) await this.#assertReplaceable(kind, to, target, overwrite)
    await this.makeParents('rename', to, true)
    // An empty directory is removed first; a file is replaced by the move itself.
    if (target === 'directory') await callStorage('rename', to, () => this.#storage.delete(to))
    await this.#moveTree(from, to, kind)
  }

  async #assertReplaceable(
    source: StorageKind,
    to: string,
    target: StorageKind,
    overwrite: boolean,
  ): Promise<void> {
    if (!overwrite) throw new VfsError('EEXIST', to, { op: 'rename' })
    if (source === 'file' && target === 'directory') throw new VfsError('EISDIR', to, { op: 'rename' })
    if (source === 'directory' && target === 'file') throw new VfsError('ENOTDIR', to, { op: 'rename' })
    if (target === 'file') return
    const entries = await this.list('rename', to)
    if (entries.length > 0) throw new VfsError('ENOTEMPTY', to, { op: 'rename' })
  }

  async #moveTree(from: string, to: string, kind: StorageKind): Promise<void> {
    try {
      await callStorage('rename', from, () => this.#storage.rename(from, to))
    } catch (error) {
      if (!isVfsError(error, 'ENOTSUP')) throw error
      await this.#moveByCopy(from, to, kind)
    }
  }

  /** Copies, and removes the source after the copy is complete. A failed copy leaves nothing behind. */
  async #moveByCopy(from: string, to: string, kind: StorageKind): Promise<void> {
    if ((await this.findKind('rename', to)) !== undefined) {
      const bytes = await callStorage('rename', from, () => this.#storage.read(from))
      await callStorage('rename', to, () => this.#storage.write(to, bytes))
    } else {
      try {
        await this.#copyTree(from, to, kind)
      } catch (error) {
        // The original error matters more than a failed clean-up.
        await this.removeTree(to, kind).catch(() => {})
        throw error
      }
    }
    await this.removeTree(from, kind)
  }

  async #copyTree(from: string, to: string, kind: StorageKind): Promise<void> {
    if (kind === 'file') {
      await callStorage('rename', from, () => this.#storage.copy(from, to))
      return
    }
    const entries = await this.list('rename', from)
    await callStorage('rename', to, () => this.#storage.mkdir(to))
    for (const entry of entries) {
      await this.#copyTree(child(from, entry.name), child(to, entry.name), entry.kind)
    }
  }
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name)
}
