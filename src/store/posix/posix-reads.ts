import { VfsError } from '../../vfs/index.ts'
import { findXattr, listXattrs } from '../files/attachments.ts'
import { assertDirectory } from '../files/directory-entries.ts'
import { type NamedEntry, toInlineText, type VaultFiles } from '../files/vault-files.ts'
import { isDeltaBlob } from '../segments/delta-row.ts'
import type { Inode } from '../tree/tree-values.ts'
import type { BlobStore } from '../vault/blob-store.ts'
import { readContent } from '../vault/file-content.ts'
import { findEntry, requireInode } from './plan-entries.ts'
import {
  type PosixAttributes,
  type StatfsReport,
  toPosixAttributes,
  type UserIds,
} from './posix-attributes.ts'
import type { PosixCommitter } from './posix-committer.ts'
import { type BlockCounts, seekDataOrHole } from './sparse-files.ts'
import { toStatfsReport } from './statfs.ts'

const ENTRIES_PER_READ = 1000

/** Sources of the reads of a vault by inode number. */
export interface PosixSources {
  readonly blobs: BlobStore
  readonly committer: PosixCommitter
  readonly blockCounts: BlockCounts
  /** Owner of files without one. */
  readonly defaultOwner: UserIds
}

/** Id of stored content, and the checksum of its bytes. */
export interface ContentReference {
  readonly id: number
  readonly checksum: number
}

/** Reads of a vault by inode number. They see every change of this process, committed or not. */
export abstract class PosixReads {
  readonly #blobs: BlobStore
  readonly #committer: PosixCommitter
  readonly #blockCounts: BlockCounts
  readonly #defaultOwner: UserIds

  constructor({ blobs, committer, blockCounts, defaultOwner }: PosixSources) {
    this.#blobs = blobs
    this.#committer = committer
    this.#blockCounts = blockCounts
    this.#defaultOwner = defaultOwner
  }

  /**
   * Runs work whose reads, also those of other vaults of the home, see one committed state. This saves each of them
   * the check for commits of other processes. A change inside ends that.
   */
  readTogether<T>(work: () => T): T {
    return this.#blobs.reader.readTogether(work)
  }

  /**
   * Returns the inode of a name; undefined if there is none, which is too common for an error. Throws ENOTDIR if the
   * parent is no directory.
   */
  lookup(parent: number, name: string): number | undefined {
    return this.#readFiles((files) => findEntry(files, parent, name, 'lookup')?.inode)
  }

  /** Returns the directory of an inode, by its first name. The root is its own. */
  getParent(ino: number): number {
    return this.#getInode(ino, 'lookup').parent
  }

  getattr(ino: number): PosixAttributes {
    return this.#readFiles((files) => {
      const inode = requireInode(files, ino, 'getattr')
      const blocks = this.#blockCounts.count(files, ino, inode)
      return toPosixAttributes({ ino, blocks }, inode, this.#defaultOwner)
    })
  }

  /**
   * Returns up to `limit` entries behind a name, in a fixed order; none at the end. The name need not exist any more,
   * so a reader that continues behind its last name misses no entry and sees none twice. ENOTDIR for anything but a
   * directory.
   */
  readdir(ino: number, after?: string, limit: number = ENTRIES_PER_READ): NamedEntry[] {
    return this.#readFiles((files) => {
      assertDirectory(files, ino, `inode ${ino}`, 'readdir')
      return files.listEntriesAfter(ino, after, limit)
    })
  }

  /** Returns the target of a symbolic link. Throws EINVAL for another type. */
  readlink(ino: number): string {
    const { type, content } = this.#getInode(ino, 'readlink')
    if (type !== 'symlink') throw new VfsError('EINVAL', `inode ${ino}`, { op: 'readlink' })
    return toInlineText(content)
  }

  /**
   * Returns bytes of a file, fewer at its end. The caller must not change them. Throws EISDIR for a directory, EINVAL
   * for another type.
   */
  read(ino: number, position: number, length: number): Uint8Array {
    const pieces = this.#readFiles((files) => {
      assertFile(requireInode(files, ino, 'read'), ino, 'read')
      return [...readContent(files, ino, this.#blobs, position, length)]
    })
    const [only] = pieces
    return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
  }

  /**
   * Returns where the content of a file in a single blob is stored; undefined for any other file, and for a delta. Within a home, an
   * equal id means equal content, and another checksum other content.
   */
  getContentReference(ino: number): ContentReference | undefined {
    const { content } = this.#getInode(ino, 'read')
    if (content === 'chunks' || content instanceof Uint8Array) return undefined
    // The checksum of a delta is not that of the content.
    return isDeltaBlob(content.blob) ? undefined : { id: content.blob, checksum: content.crc }
  }

  /** Returns the next position of data or of a hole; null where `lseek` fails with ENXIO. */
  seek(ino: number, position: number, what: 'data' | 'hole'): number | null {
    return this.#readFiles((files) => {
      const inode = requireInode(files, ino, 'lseek')
      assertFile(inode, ino, 'lseek')
      return seekDataOrHole(files, ino, inode, position, what)
    })
  }

  /** Returns an extended attribute; undefined where `getxattr` has ENODATA, which is too common for an error. */
  getxattr(ino: number, name: string): Uint8Array | undefined {
    return this.#readFiles((files) => {
      requireInode(files, ino, 'getxattr')
      return findXattr(files, ino, name)
    })
  }

  /** Lists the names of extended attributes, in order. */
  listxattr(ino: number): string[] {
    return this.#readFiles((files) => {
      requireInode(files, ino, 'listxattr')
      return listXattrs(files, ino)
    })
  }

  statfs(): StatfsReport {
    const { engine } = this.#blobs.reader
    return this.#readFiles((files) =>
      toStatfsReport(files.getCounters(), this.#committer.quota, engine.getFreeBytes?.()),
    )
  }

  /** ENOENT for an unknown inode. */
  protected assertExists(ino: number, op: string): void {
    this.#getInode(ino, op)
  }

  #getInode(ino: number, op: string): Inode {
    return this.#readFiles((files) => requireInode(files, ino, op))
  }

  /** Reads the current files; reads again if a garbage collection has removed a page meanwhile. */
  #readFiles<T>(read: (files: VaultFiles) => T): T {
    return this.#blobs.reader.runSync(() => read(this.#committer.files))
  }
}

/** EISDIR for a directory, EINVAL for another type that has no content. */
export function assertFile({ type }: Inode, ino: number, op: string): void {
  if (type === 'file') return
  throw new VfsError(type === 'directory' ? 'EISDIR' : 'EINVAL', `inode ${ino}`, { op })
}
