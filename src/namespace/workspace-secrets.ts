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

  /** Returns the secrets of another state of the workspace, with the same rules and mask. */
  forTree(fs: FileSystem): WorkspaceSecrets {
    return new WorkspaceSecrets(fs, this.#files, () => this.#getMask())
  }

  /** Reports whether a file with this path is masked by its name. */
  hasSecretName(path: string): boolean {
    return this.#files.includes(path)
  }

  /**
   * Returns the path by which the placeholders of a file are made; undefined if it is not masked. It differs from the path
   * of a symbolic link, or of another name of a masked file.
   */
  async findOrigin(path: string): Promise<string | undefined> {
    const real = await this.#resolveLinks(path)
    if (this.#files.includes(real)) return real
    if (this.#files.includes(path)) return real
    const ino = await this.#findSharedInode(real)
    return ino === undefined ? undefined : (await this.#listSharedInodes()).get(ino)
  }

  /** Lists the masked files at or below a path, each with its origin. */
  async listBelow(root: string, ctx?: CallContext): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    const rootOrigin = await this.findOrigin(root)
    if (rootOrigin !== undefined) found.set(root, rootOrigin)
    const shared = await this.#listSharedInodes()
    for await (const { path, stat } of this.#fs.walk(root, {}, ctx)) {
      const canBeSecret = stat.type === 'file' && (this.#files.includes(path) || shared.size > 0)
      const origin = canBeSecret ? await this.findOrigin(path) : undefined
      if (origin !== undefined) found.set(path, origin)
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
      // The operation on the path then fails itself, with a better message.
      if (isVfsError(error)) return path
      throw error
    }
  }

  /** Returns the inode of a file that has several names; undefined for others. */
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
