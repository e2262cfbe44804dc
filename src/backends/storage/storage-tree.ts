import { ancestors, child, isVfsError, isWithin, VfsError } from '../../vfs/index.ts'
import type { StorageBackend, StorageEntry, StorageKind, StorageMetadata } from './storage-backend.ts'
import { callStorage } from './storage-errors.ts'

const ROOT: StorageMetadata = { kind: 'directory', size: 0 }

/** The rules of a tree over a storage that knows none: parents that exist, whole trees removed and moved. */
export class StorageTree {
  readonly #storage: StorageBackend

  constructor(storage: StorageBackend) {
    this.#storage = storage
  }

  /** What is at a path; the root is there without being asked for. ENOENT. */
  async metadata(op: string, path: string): Promise<StorageMetadata> {
    if (path === '/') return ROOT
    try {
      return await callStorage(op, path, () => this.#storage.metadata(path))
    } catch (error) {
      // A storage that says ENOTDIR below a file means that nothing is there.
      if (isVfsError(error, 'ENOTDIR')) throw new VfsError('ENOENT', path, { op, cause: error })
      throw error
    }
  }

  /** As `metadata`, and undefined where nothing is. */
  async findKind(op: string, path: string): Promise<StorageKind | undefined> {
    try {
      return (await this.metadata(op, path)).kind
    } catch (error) {
      if (isVfsError(error, 'ENOENT')) return undefined
      throw error
    }
  }

  /** What is in a directory. EIO if a storage lists what cannot be a name there, before anybody follows it. */
  async list(op: string, path: string): Promise<readonly StorageEntry[]> {
    const entries = await callStorage(op, path, () => this.#storage.list(path))
    const stray = entries.find(({ name }) => !isName(name))
    if (stray === undefined) return entries
    throw new VfsError('EIO', path, { op, detail: `the storage listed '${stray.name}', which is no name` })
  }

  /**
   * Makes the directories above a path that are missing, or refuses them: ENOENT. ENOTDIR if a file is in the way.
   * Looks from the path up and stops at the first that exists: a path in a deep directory asks no more than any other.
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

  /** Removes what is at a path, with all it holds. */
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
    // An empty directory makes way; a file is replaced in one step by what takes its name.
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
    const held = await this.list('rename', to)
    if (held.length > 0) throw new VfsError('ENOTEMPTY', to, { op: 'rename' })
  }

  async #moveTree(from: string, to: string, kind: StorageKind): Promise<void> {
    try {
      await callStorage('rename', from, () => this.#storage.rename(from, to))
    } catch (error) {
      if (!isVfsError(error, 'ENOTSUP')) throw error
      await this.#moveByCopy(from, to, kind)
    }
  }

  /** Both are there until the copy is whole; a copy that fails leaves nothing of itself. */
  async #moveByCopy(from: string, to: string, kind: StorageKind): Promise<void> {
    if ((await this.findKind('rename', to)) !== undefined) {
      const bytes = await callStorage('rename', from, () => this.#storage.read(from))
      await callStorage('rename', to, () => this.#storage.write(to, bytes))
    } else {
      try {
        await this.#copyTree(from, to, kind)
      } catch (error) {
        // What then goes wrong with the cleaning up says less than why it is needed.
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
