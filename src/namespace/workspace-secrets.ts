import type { SecretFiles, SecretMask } from '../secrets/index.ts'
import {
  type CallContext,
  type FileSystem,
  isHardLinkable,
  isLinkable,
  isVfsError,
  readFile,
  VfsError,
} from '../vfs/index.ts'

/** Finds the files of a workspace with secret values, masks their content, and puts the values back. */
export class WorkspaceSecrets {
  readonly #fs: FileSystem
  readonly #files: SecretFiles
  readonly #loadMask: () => Promise<SecretMask>
  #mask: Promise<SecretMask> | undefined

  /** @param loadMask called for the first secret file: most workspaces have none. */
  constructor(fs: FileSystem, files: SecretFiles, loadMask: () => Promise<SecretMask>) {
    this.#fs = fs
    this.#files = files
    this.#loadMask = loadMask
  }

  /** The same files in another state of the workspace. */
  of(fs: FileSystem): WorkspaceSecrets {
    return new WorkspaceSecrets(fs, this.#files, () => this.#getMask())
  }

  /** Reports whether a file with this path is masked by its name. */
  hasSecretName(path: string): boolean {
    return this.#files.includes(path)
  }

  /** Returns the path that the placeholders of a file are of; undefined if it is not masked. */
  async findOrigin(path: string): Promise<string | undefined> {
    const real = await this.#resolveLinks(path)
    if (this.#files.includes(real)) return real
    if (this.#files.includes(path)) return real
    const ino = await this.#findSharedInode(real)
    return ino === undefined ? undefined : (await this.#listSharedInodes()).get(ino)
  }

  /** Lists the masked files at or below a path, with the path that their placeholders are of. */
  async listBelow(root: string, ctx?: CallContext): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    const origin = await this.findOrigin(root)
    if (origin !== undefined) found.set(root, origin)
    const shared = await this.#listSharedInodes()
    for await (const { path, stat } of this.#fs.walk(root, {}, ctx)) {
      const isSecret = stat.type === 'file' && (this.#files.includes(path) || shared.size > 0)
      const at = isSecret ? await this.findOrigin(path) : undefined
      if (at !== undefined) found.set(path, at)
    }
    return found
  }

  async readMasked(path: string, origin: string, ctx?: CallContext): Promise<Uint8Array> {
    const content = await readFile(this.#fs, path, {}, ctx)
    return (await this.#getMask()).mask(origin, content)
  }

  /** Puts the values of a file into new content for it. EINVAL if that has no place for them. */
  async restore(path: string, origin: string, content: Uint8Array, real: Uint8Array): Promise<Uint8Array> {
    const mask = await this.#getMask()
    if (mask.canRestore(origin, content, real)) return mask.restore(origin, content, real).bytes
    const detail =
      'the file has masked values, and the new content has no place for them; keep its format, and each placeholder at its key'
    throw new VfsError('EINVAL', path, { op: 'write', detail })
  }

  async #resolveLinks(path: string): Promise<string> {
    try {
      return isLinkable(this.#fs) ? await this.#fs.realpath(path, { followLast: true }) : path
    } catch (error) {
      // The operation itself fails on it, too.
      if (isVfsError(error)) return path
      throw error
    }
  }

  /** Returns the inode of a file that has several names. */
  async #findSharedInode(path: string): Promise<number | undefined> {
    if (!isHardLinkable(this.#fs)) return undefined
    try {
      const { ino, nlink } = await this.#fs.identity(path)
      return nlink > 1 ? ino : undefined
    } catch (error) {
      if (isVfsError(error)) return undefined
      throw error
    }
  }

  /** Lists the inodes of masked files that have several names, with the masked one. */
  async #listSharedInodes(): Promise<Map<number, string>> {
    const found = new Map<number, string>()
    for await (const { path, stat } of this.#fs.walk('/')) {
      const ino =
        stat.type === 'file' && this.#files.includes(path) ? await this.#findSharedInode(path) : undefined
      if (ino !== undefined) found.set(ino, path)
    }
    return found
  }

  #getMask(): Promise<SecretMask> {
    this.#mask ??= this.#loadMask()
    return this.#mask
  }
}
