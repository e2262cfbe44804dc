import { createNotLocalError } from '../engine-reader.ts'
import { listUnlinkedInodes } from '../files/directory-entries.ts'
import type { FileOperation, Provenance } from '../files/operation.ts'
import { ROOT_INODE, type VaultFiles } from '../files/vault-files.ts'
import type { Inode } from '../tree/tree-values.ts'
import type { BlobStore } from '../vault/blob-store.ts'
import type { VaultLog } from '../vault/vault-log.ts'
import { OpenCounts } from './open-counts.ts'
import {
  type EarlierAppend,
  planAllocation,
  planAppend,
  planAttributeChanges,
  planHole,
  planWrite,
  planXattr,
  type XattrMode,
} from './plan-content.ts'
import {
  getJournalPath,
  planCreate,
  planLink,
  planNode,
  planRelease,
  planRename,
  planRmdir,
  planSymlink,
  planTmpfile,
  planUnlink,
  type RenameMode,
  requireInode,
} from './plan-entries.ts'
import type { CreationAttributes, PosixAttributeChanges, UserIds } from './posix-attributes.ts'
import { PosixCommitter } from './posix-committer.ts'
import { assertFile, PosixReads } from './posix-reads.ts'
import { BlockCounts } from './sparse-files.ts'

/** Options of `PosixFiles`. */
export interface PosixOptions {
  /** Author of the changes in the journal. */
  readonly by?: Provenance
  /** Commits in groups: others see changes some milliseconds later. The caller must call `commit` when it is idle. */
  readonly usesGroupCommit?: boolean
  /**
   * Owner of files without one: imported files, and those that the library or a command wrote. Root when absent. Git
   * and `cp -a` refuse to work on files of root, so a mount of an ordinary user names that user.
   */
  readonly defaultOwner?: UserIds
  /**
   * Called when everything is durable here: by `fsync`, or at the end of its batch. It may throw, so that this fails.
   */
  readonly onSync?: () => void
}

const SUPERUSER: UserIds = { uid: 0, gid: 0 }

/**
 * A vault by inode number, for a kernel. When a call returns, its change survives the end of this process and, without
 * group commit, others see it. A call that fails throws a VfsError with the code of POSIX; ENOENT for an unknown inode.
 * Needs a local engine. Checks no permissions. A read does not change `atime`. An inode that is open here stays when
 * it loses its last name here; a removal by another process does not know of it.
 */
export class PosixFiles extends PosixReads {
  static readonly root: number = ROOT_INODE
  readonly #blobs: BlobStore
  readonly #committer: PosixCommitter
  readonly #blockCounts: BlockCounts
  readonly #openCounts = new OpenCounts()
  readonly #isOpen = (ino: number): boolean => this.#openCounts.has(ino)

  /** ENOTSUP on a remote engine. */
  constructor(log: VaultLog, blobs: BlobStore, options: PosixOptions = {}) {
    const { by: provenance = {}, usesGroupCommit = false, defaultOwner = SUPERUSER } = options
    if (blobs.reader.isRemote) throw createNotLocalError(blobs.reader.engine)
    const { onSync } = options
    const committer = new PosixCommitter(log, blobs, provenance, { usesGroupCommit, onSync })
    const blockCounts = new BlockCounts()
    super({ blobs, committer, blockCounts, defaultOwner })
    this.#blobs = blobs
    this.#committer = committer
    this.#blockCounts = blockCounts
  }

  /** True if changes are committed in groups, so that others see them some milliseconds later. */
  get usesGroupCommit(): boolean {
    return this.#committer.usesGroupCommit
  }

  /** A number that changes with each change; 0 if no change waits for `commit`. All of them survive a kill. */
  get pendingVersion(): number {
    return this.#committer.pendingVersion
  }

  /** Commits the open group, so that others see it. */
  commit(): void {
    this.#committer.commit()
  }

  /**
   * Commits all changes of `work` atomically when it returns; calls inside see them at once. If `work` throws, none
   * is committed. `work` may run more than once; only the last run counts.
   */
  batch(work: () => void): void {
    this.#committer.runBatch(work, {
      begin: () => this.#openCounts.begin(),
      commit: () => this.#openCounts.commit(),
      rollback: () => {
        this.#openCounts.rollback()
        this.#blockCounts.clear()
      },
    })
  }

  /**
   * Changes the given attributes and the change time. For a size, throws EISDIR for a directory, EINVAL for another
   * type, EFBIG beyond the largest size.
   */
  setattr(ino: number, changes: PosixAttributeChanges): void {
    this.#changeInode(ino, 'setattr', (files, inode, path) =>
      planAttributeChanges({ files, blobs: this.#blobs, inode: ino, path }, inode, changes),
    )
  }

  /**
   * Creates an empty file; returns its inode, as the next methods do. Throws EEXIST if the name is taken, ENOTDIR if
   * the parent is no directory, ENAMETOOLONG or EINVAL for an invalid name.
   */
  create(parent: number, name: string, owner: CreationAttributes): number {
    return this.#createInode((files) => planCreate(files, [parent, name], 'file', owner))
  }

  mkdir(parent: number, name: string, owner: CreationAttributes): number {
    return this.#createInode((files) => planCreate(files, [parent, name], 'directory', owner))
  }

  /**
   * Creates a file, pipe, socket or device, by the file type in the mode. Throws EPERM for a directory, EINVAL for a link
   * and for a type that does not exist.
   */
  mknod(parent: number, name: string, owner: CreationAttributes, rdev = 0): number {
    return this.#createInode((files) => planNode(files, [parent, name], owner, rdev))
  }

  symlink(parent: number, name: string, target: string, owner: Omit<CreationAttributes, 'mode'>): number {
    return this.#createInode((files) => planSymlink(files, [parent, name], target, owner))
  }

  /** Creates an open file without a name. The last release removes it, unless `link` has named it. */
  tmpfile(parent: number, owner: CreationAttributes): number {
    const ino = this.#createInode((files) => planTmpfile(files, parent, owner))
    this.#openCounts.add(ino, 1)
    return ino
  }

  /** Adds a name to a file. Throws EPERM for a directory, EEXIST if the name is taken. */
  link(ino: number, parent: number, name: string): void {
    this.#committer.apply((files) => planLink(files, ino, [parent, name]))
  }

  /** Removes a name; with the last name also the file, once it is no longer open. Throws EISDIR for a directory. */
  unlink(parent: number, name: string): void {
    this.#committer.apply((files) => planUnlink(files, [parent, name], this.#isOpen))
  }

  /** Removes a directory. Throws ENOTEMPTY unless it is empty, ENOTDIR for another type. */
  rmdir(parent: number, name: string): void {
    this.#committer.apply((files) => planRmdir(files, [parent, name], this.#isOpen))
  }

  /**
   * Renames an entry. Throws EINVAL for a directory into itself; ENOTEMPTY, EISDIR or ENOTDIR if the target cannot be
   * replaced; EEXIST if there is a target and the mode is `noreplace`.
   */
  rename(
    parent: number,
    name: string,
    newParent: number,
    newName: string,
    mode: RenameMode = 'replace',
  ): void {
    this.#committer.apply((files) =>
      planRename(files, [parent, name], [newParent, newName], mode, this.#isOpen),
    )
  }

  /** Keeps the inode, with or without a name, until `release` was called once for each `open`. */
  open(ino: number): void {
    this.assertExists(ino, 'open')
    this.#openCounts.add(ino, 1)
  }

  /** Ends some opens of an inode. The last one removes it, if it has no name. */
  release(ino: number, times = 1): void {
    if (!this.#openCounts.has(ino) || this.#openCounts.add(ino, -times) > 0) return
    if (this.#committer.files.findInode(ino)?.links === 0) this.#committer.apply(() => planRelease(ino))
  }

  /**
   * Removes files without a name that are not open here; returns their number. No other process may serve the vault.
   */
  reapUnlinked(): number {
    const unlinked = listUnlinkedInodes(this.#committer.files).filter((ino) => !this.#openCounts.has(ino))
    this.batch(() => {
      for (const ino of unlinked) this.#committer.apply(() => planRelease(ino))
    })
    this.commit()
    return unlinked.length
  }

  /**
   * Writes all of the bytes, and keeps no reference to them. An empty write changes nothing. Throws EISDIR for a
   * directory, EINVAL for another type, EFBIG beyond the largest size.
   * @param findsStored looks for each whole chunk by its hash, so that content which the home has is not stored again.
   */
  write(
    ino: number,
    position: number,
    bytes: Uint8Array,
    { findsStored = false }: { readonly findsStored?: boolean } = {},
  ): void {
    this.#changeInode(ino, 'write', (files, inode, path) => {
      assertFile(inode, ino, 'write')
      return planWrite({ files, blobs: this.#blobs, inode: ino, path }, position, bytes, findsStored)
    })
  }

  /**
   * Writes all of the bytes at the end of the file at the time of the commit; returns that position.
   * Fails as `write`.
   * @param begun an earlier append that these bytes continue: bytes of others in between move before both.
   */
  append(ino: number, bytes: Uint8Array, begun?: EarlierAppend): number {
    let position = 0
    this.#changeInode(ino, 'write', (files, inode, path) => {
      assertFile(inode, ino, 'write')
      position = inode.size
      return planAppend({ files, blobs: this.#blobs, inode: ino, path }, position, bytes, begun)
    })
    return position
  }

  /**
   * Extends the file to a range with a hole, unless `keepSize`. Reserves no space. Throws EINVAL for an invalid
   * range, EFBIG beyond the largest size.
   */
  allocate(
    ino: number,
    position: number,
    length: number,
    { keepSize = false }: { readonly keepSize?: boolean } = {},
  ): void {
    this.#changeInode(ino, 'fallocate', (files, inode, path) => {
      assertFile(inode, ino, 'fallocate')
      const target = { files, blobs: this.#blobs, inode: ino, path }
      return planAllocation(target, inode, position, length, keepSize)
    })
  }

  /** Replaces bytes by a hole. The size stays. */
  punchHole(ino: number, position: number, length: number): void {
    this.#changeInode(ino, 'fallocate', (files, inode, path) => {
      assertFile(inode, ino, 'fallocate')
      return planHole({ files, blobs: this.#blobs, inode: ino, path }, inode, position, length)
    })
  }

  /**
   * Sets an extended attribute. Throws EEXIST for mode `create` if it exists, ENODATA for `replace` if it does not,
   * EINVAL for a name or value that is too long.
   */
  setxattr(ino: number, name: string, value: Uint8Array, mode: XattrMode = 'any'): void {
    this.#changeInode(ino, 'setxattr', (files, _, path) =>
      planXattr(files, { path, inode: ino, name }, value, mode),
    )
  }

  /** Removes an extended attribute. Throws ENODATA if there is none of this name. */
  removexattr(ino: number, name: string): void {
    this.#changeInode(ino, 'removexattr', (files, _, path) =>
      planXattr(files, { path, inode: ino, name }, null, 'replace'),
    )
  }

  /** Makes all changes so far survive power loss; inside a batch, at the end of the batch. */
  fsync(): void {
    this.#committer.sync()
  }

  /** Creates an inode; returns its number, which is known before the commit. */
  #createInode(plan: (files: VaultFiles) => FileOperation): number {
    let ino = 0
    this.#committer.apply((files) => {
      ino = files.getCounters().nextInode
      return plan(files)
    })
    return ino
  }

  #changeInode(
    ino: number,
    op: string,
    plan: (files: VaultFiles, inode: Inode, path: string) => FileOperation | null,
  ): void {
    this.#committer.apply((files) => {
      const inode = requireInode(files, ino, op)
      return plan(files, inode, getJournalPath(files, ino, inode))
    })
    this.#blockCounts.invalidate(ino)
  }
}
