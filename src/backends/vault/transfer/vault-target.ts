import {
  type BlobStore,
  type ChunkHashes,
  type ExtraRecords,
  type FileOperation,
  type Inode,
  type MaybePromise,
  type Provenance,
  type StoredContent,
  storeBytes,
  storeStream,
  toInlineText,
  Upload,
  VaultFiles,
  type VaultLog,
} from '../../../store/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import type { TransferAttributes } from './transfer-attributes.ts'

/** An inode of the vault before the import. */
export interface ExistingInode {
  readonly number: number
  readonly inode: Inode
}

/**
 * The target of an import. Below its root no link in a path is followed, because an import replaces anything that is not a
 * directory where it needs one.
 */
export class VaultTarget {
  readonly #log: VaultLog
  readonly #blobs: BlobStore
  readonly #provenance: Provenance
  readonly #before: VaultFiles

  private constructor(log: VaultLog, blobs: BlobStore, provenance: Provenance, before: VaultFiles) {
    this.#log = log
    this.#blobs = blobs
    this.#provenance = provenance
    this.#before = before
  }

  static async open(log: VaultLog, blobs: BlobStore, provenance: Provenance): Promise<VaultTarget> {
    await blobs.reader.session.beginRead()
    const before = await blobs.reader.run(() => new VaultFiles(log.readFiles().tree.fork()))
    // Held until the target is garbage.
    blobs.reader.session.hold(before.tree)
    return new VaultTarget(log, blobs, provenance, before)
  }

  /** Resolves the links in a path and creates the directory. Returns the real path and its earlier inode. ENOTDIR. */
  async prepareRoot(path: string): Promise<{ path: string; existing: ExistingInode | undefined }> {
    const root = await this.#blobs.reader.run(() => {
      const resolved = this.#before.resolveLinks(path, true, 'import')
      return { path: resolved, existing: findExisting(this.#before, this.#before.findByPath(resolved)) }
    })
    if (root.existing === undefined)
      await this.#submit(() => ({ op: 'mkdir', path: root.path, parents: true }))
    else if (root.existing.inode.type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'import' })
    return root
  }

  /** Returns the inode that a directory had under a name before the import. */
  findChild(directory: ExistingInode | undefined, name: string): MaybePromise<ExistingInode | undefined> {
    if (directory?.inode.type !== 'directory') return undefined
    return this.#blobs.reader.run(() =>
      findExisting(this.#before, this.#before.findEntry(directory.number, name)?.inode),
    )
  }

  /**
   * Writes a file. It is committed together with all writes submitted before the next turn.
   * @param hashes result of `hashContent`, if it is known.
   */
  writeBytes(
    path: string,
    bytes: Uint8Array,
    attributes: TransferAttributes,
    hashes?: readonly ChunkHashes[],
  ): Promise<void> {
    const stored = this.#blobs.reader.run(() => storeBytes(bytes, this.#blobs, hashes))
    const write = (content: StoredContent) => this.#write(path, content, attributes)
    return stored instanceof Promise ? stored.then(write) : write(stored)
  }

  async writeStream(
    path: string,
    bytes: AsyncIterable<Uint8Array>,
    attributes: TransferAttributes,
  ): Promise<void> {
    await using upload = new Upload(this.#blobs)
    const content = await storeStream(bytes, this.#blobs, upload)
    await this.#write(path, content, attributes, upload.extraRecords)
  }

  makeDirectory(path: string, mode: number): Promise<void> {
    const mkdir: FileOperation = { op: 'mkdir', path, parents: false, mode }
    return this.#submit((files) => {
      const existing = findInode(files, path)
      if (existing?.type === 'directory') return { ...mkdir, parents: true }
      return existing === undefined ? mkdir : createReplacement(path, mkdir)
    })
  }

  makeLink(path: string, target: string, { mtime }: TransferAttributes): Promise<void> {
    const symlink: FileOperation = { op: 'symlink', path, target }
    const created = this.#submit((files) =>
      findInode(files, path) === undefined ? symlink : createReplacement(path, symlink),
    )
    return created.then(() => this.setAttributes(path, { mtime }))
  }

  setAttributes(path: string, attributes: Partial<TransferAttributes>): Promise<void> {
    return this.#submit((files) => {
      const inode = files.findByPath(path)
      if (inode === undefined)
        throw new VfsError('ENOENT', path, {
          op: 'import',
          detail: 'the path was removed meanwhile; import again',
        })
      return { op: 'attributes', path, inode, ...attributes }
    })
  }

  #write(
    path: string,
    content: StoredContent,
    attributes: TransferAttributes,
    extraRecords?: ExtraRecords,
  ): Promise<void> {
    const write: FileOperation = { op: 'write', path, content, parents: false, ...attributes }
    return this.#submit((files) => {
      const existing = findInode(files, path)
      return existing === undefined || existing.type === 'file' ? write : createReplacement(path, write)
    }, extraRecords)
  }

  #submit(plan: (files: VaultFiles) => FileOperation, extraRecords?: ExtraRecords): Promise<void> {
    return this.#log.submit(plan, this.#provenance, extraRecords)
  }
}

export function isLinkTo(existing: ExistingInode | undefined, target: string): boolean {
  return existing?.inode.type === 'symlink' && toInlineText(existing.inode.content) === target
}

/** Removes the existing entry and performs an operation in one step. EISDIR for a directory. */
function createReplacement(path: string, operation: FileOperation): FileOperation {
  return { op: 'batch', path, operations: [{ op: 'remove', path, recursive: false }, operation] }
}

function findExisting(files: VaultFiles, number: number | undefined): ExistingInode | undefined {
  return number === undefined ? undefined : { number, inode: files.getInode(number) }
}

function findInode(files: VaultFiles, path: string): Inode | undefined {
  const number = files.findByPath(path)
  return number === undefined ? undefined : files.getInode(number)
}
