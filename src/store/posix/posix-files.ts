import { VfsError } from '../../vfs/index.ts'
import { createNotLocalError } from '../engine-reader.ts'
import { findXattr, listXattrs } from '../files/attachments.ts'
import { assertDirectory, listUnlinkedInodes } from '../files/directory-entries.ts'
import type { FileOperation, Provenance } from '../files/operation.ts'
import { type NamedEntry, ROOT_INODE, toInlineText, type VaultFiles } from '../files/vault-files.ts'
import type { Inode } from '../tree/tree-values.ts'
import type { BlobStore } from '../vault/blob-store.ts'
import { readContent } from '../vault/file-content.ts'
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
  findEntry,
  getInode,
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
} from './plan-entries.ts'
import {
  type CreationAttributes,
  type PosixAttributeChanges,
  type PosixAttributes,
  type StatfsReport,
  toPosixAttributes,
  type UserIds,
} from './posix-attributes.ts'
import { PosixCommitter } from './posix-committer.ts'
import { BlockCounts, seekDataOrHole } from './sparse-files.ts'
import { toStatfsReport } from './statfs.ts'

const ENTRIES_PER_READ = 1000

/** Options of `PosixFiles`. */
export interface PosixOptions {
  /** Who does all this, for the journal. */
  readonly by?: Provenance
  /** What is done may be seen by others some milliseconds later, if `settle` is called when nothing more comes. */
  readonly usesGroupCommit?: boolean
  /**
   * Who owns what no user made: imported files, and those that the library or a command wrote. Root when absent. Git
   * and `cp -a` refuse to work on files of root, so a mount of an ordinary user names that user.
   */
  readonly defaultOwner?: UserIds
}

const SUPERUSER: UserIds = { uid: 0, gid: 0 }

/**
 * A vault by inode number, as a kernel asks for it. Every call is done when it returns: kept if this process is killed
 * and, unless it gathers, seen by everybody; or throws a VfsError with the code POSIX has for it. Only on an engine that is local.
 * A number that leads nowhere is ENOENT. Who may do what is not asked here. Reading does not change `atime`. What is
 * open here stays when it loses its name here; another process that removes it does not know.
 */
export class PosixFiles {
  static readonly root: number = ROOT_INODE
  readonly #blobs: BlobStore
  readonly #committer: PosixCommitter
  readonly #openCounts = new OpenCounts()
  readonly #blockCounts = new BlockCounts()
  readonly #defaultOwner: UserIds
  readonly #isOpen = (ino: number): boolean => this.#openCounts.has(ino)

  /** ENOTSUP on an engine that lets callers wait. */
  constructor(log: VaultLog, blobs: BlobStore, options: PosixOptions = {}) {
    const { by = {}, usesGroupCommit = false, defaultOwner = SUPERUSER } = options
    if (blobs.reader.isRemote) throw createNotLocalError(blobs.reader.engine)
    this.#blobs = blobs
    this.#defaultOwner = defaultOwner
    this.#committer = new PosixCommitter(log, blobs, by, usesGroupCommit)
  }

  /** Whether changes may be seen by others a little later. */
  get usesGroupCommit(): boolean {
    return this.#committer.usesGroupCommit
  }

  /** Another number after each change, 0 if there is nothing to settle. All of it survives the end of this process. */
  get pendingVersion(): number {
    return this.#committer.pendingVersion
  }

  /** Lets others see everything that was done. */
  commit(): void {
    this.#committer.commit()
  }

  /**
   * Commits everything that is done in `work` together when that returns; calls inside see it at once. If `work`
   * throws, nothing of it was done. It may run more than once, from its beginning: what counts is the last time.
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

  /** The inode a name leads to; undefined if there is none: asked too often to be an error. ENOTDIR. */
  lookup(parent: number, name: string): number | undefined {
    return this.#readFiles((files) => findEntry(files, parent, name, 'lookup')?.inode)
  }

  /** The directory something is in; of a file with several names, that of the first. The root is in itself. */
  getParent(ino: number): number {
    return this.#getInode(ino, 'lookup').parent
  }

  getattr(ino: number): PosixAttributes {
    return this.#readFiles((files) => {
      const inode = getInode(files, ino, 'getattr')
      const blocks = this.#blockCounts.count(files, ino, inode)
      return toPosixAttributes({ ino, blocks }, inode, this.#defaultOwner)
    })
  }

  /** Changes what is given, and the time of change. EISDIR or EINVAL for the size of what is no file, EFBIG. */
  setattr(ino: number, changes: PosixAttributeChanges): void {
    this.#changeInode(ino, 'setattr', (files, inode, path) =>
      planAttributeChanges({ files, blobs: this.#blobs, inode: ino, path }, inode, changes),
    )
  }

  /**
   * Some entries behind a name, in a fixed order; none at the end. A name is a place in that order whether or not it
   * is still there, so who reads on behind the last one it saw misses nothing and sees nothing twice. ENOTDIR.
   */
  readdir(ino: number, after?: string, limit: number = ENTRIES_PER_READ): NamedEntry[] {
    return this.#readFiles((files) => {
      assertDirectory(files, ino, `inode ${ino}`, 'readdir')
      return files.listEntriesAfter(ino, after, limit)
    })
  }

  /** Makes an empty file. Here and below a new thing's inode is returned. EEXIST, ENOTDIR, ENAMETOOLONG, EINVAL. */
  create(parent: number, name: string, owner: CreationAttributes): number {
    return this.#createInode((files) => planCreate(files, [parent, name], 'file', owner))
  }

  mkdir(parent: number, name: string, owner: CreationAttributes): number {
    return this.#createInode((files) => planCreate(files, [parent, name], 'directory', owner))
  }

  /** Makes a file, pipe, socket or device, as the format in the mode says. EPERM for a directory. */
  mknod(parent: number, name: string, owner: CreationAttributes, rdev = 0): number {
    return this.#createInode((files) => planNode(files, [parent, name], owner, rdev))
  }

  symlink(parent: number, name: string, target: string, owner: Omit<CreationAttributes, 'mode'>): number {
    return this.#createInode((files) => planSymlink(files, [parent, name], target, owner))
  }

  /** A file without a name, open once: gone at the last release unless `link` names it. */
  tmpfile(parent: number, owner: CreationAttributes): number {
    const ino = this.#createInode((files) => planTmpfile(files, parent, owner))
    this.#openCounts.add(ino, 1)
    return ino
  }

  /** EINVAL for what is no symbolic link. */
  readlink(ino: number): string {
    const { type, content } = this.#getInode(ino, 'readlink')
    if (type !== 'symlink') throw new VfsError('EINVAL', `inode ${ino}`, { op: 'readlink' })
    return toInlineText(content)
  }

  /** Gives a file one more name. EPERM for a directory, EEXIST. */
  link(ino: number, parent: number, name: string): void {
    this.#committer.apply((files) => planLink(files, ino, [parent, name]))
  }

  /** Takes a name away. Its file goes with the last one, but not while it is open. EISDIR. */
  unlink(parent: number, name: string): void {
    this.#committer.apply((files) => planUnlink(files, [parent, name], this.#isOpen))
  }

  /** ENOTDIR, ENOTEMPTY. */
  rmdir(parent: number, name: string): void {
    this.#committer.apply((files) => planRmdir(files, [parent, name], this.#isOpen))
  }

  /** EINVAL for a directory into itself, ENOTEMPTY, EISDIR, ENOTDIR; EEXIST for `noreplace`. */
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

  /** From here on the inode stays, named or not, until it was released as often as it was opened. */
  open(ino: number): void {
    this.#getInode(ino, 'open')
    this.#openCounts.add(ino, 1)
  }

  release(ino: number, times = 1): void {
    if (!this.#openCounts.has(ino) || this.#openCounts.add(ino, -times) > 0) return
    if (this.#committer.files.findInode(ino)?.links === 0) this.#committer.apply(() => planRelease(ino))
  }

  /** Removes files without a name that nobody here has open. Only while nobody else serves this vault. */
  reapUnlinked(): number {
    const left = listUnlinkedInodes(this.#committer.files).filter((ino) => !this.#openCounts.has(ino))
    this.batch(() => {
      for (const ino of left) this.#committer.apply(() => planRelease(ino))
    })
    this.commit()
    return left.length
  }

  /** Bytes of a file, fewer at its end. They are the store's: not to be changed. EISDIR, EINVAL. */
  read(ino: number, position: number, length: number): Uint8Array {
    const pieces = this.#readFiles((files) => {
      assertFile(getInode(files, ino, 'read'), ino, 'read')
      return [...readContent(files, ino, this.#blobs, position, length)]
    })
    const [only] = pieces
    return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
  }

  /** Writes all of the bytes, which may be used again afterwards. No bytes change nothing. EISDIR, EINVAL, EFBIG. */
  write(ino: number, position: number, bytes: Uint8Array): void {
    this.#changeInode(ino, 'write', (files, inode, path) => {
      assertFile(inode, ino, 'write')
      return planWrite({ files, blobs: this.#blobs, inode: ino, path }, position, bytes)
    })
  }

  /**
   * Writes all of the bytes at the end of the file as it is when they are committed; returns where that is.
   * EISDIR, EINVAL, EFBIG.
   * @param begun the piece these bytes continue: whatever others appended since comes before both.
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

  /** Makes sure the file reaches so far, with a hole unless `keepSize`; no room is set aside. EINVAL, EFBIG. */
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

  /** Makes bytes zero and gives back their room; the size stays. */
  punchHole(ino: number, position: number, length: number): void {
    this.#changeInode(ino, 'fallocate', (files, inode, path) => {
      assertFile(inode, ino, 'fallocate')
      return planHole({ files, blobs: this.#blobs, inode: ino, path }, inode, position, length)
    })
  }

  /** Where data or a hole begins from a position on; null where `lseek` says ENXIO: there is none. */
  seek(ino: number, position: number, what: 'data' | 'hole'): number | null {
    return this.#readFiles((files) => {
      const inode = getInode(files, ino, 'lseek')
      assertFile(inode, ino, 'lseek')
      return seekDataOrHole(files, ino, inode, position, what)
    })
  }

  /** An extended attribute; undefined where `getxattr` says ENODATA: asked too often to be an error. */
  getxattr(ino: number, name: string): Uint8Array | undefined {
    return this.#readFiles((files) => {
      getInode(files, ino, 'getxattr')
      return findXattr(files, ino, name)
    })
  }

  /** EEXIST and ENODATA where the mode wants it otherwise, EINVAL for a name or value that is too long. */
  setxattr(ino: number, name: string, value: Uint8Array, mode: XattrMode = 'any'): void {
    this.#changeInode(ino, 'setxattr', (files, _, path) =>
      planXattr(files, { path, inode: ino, name }, value, mode),
    )
  }

  /** The names, in order. */
  listxattr(ino: number): string[] {
    return this.#readFiles((files) => {
      getInode(files, ino, 'listxattr')
      return listXattrs(files, ino)
    })
  }

  /** ENODATA. */
  removexattr(ino: number, name: string): void {
    this.#changeInode(ino, 'removexattr', (files, _, path) =>
      planXattr(files, { path, inode: ino, name }, null, 'replace'),
    )
  }

  statfs(): StatfsReport {
    const { engine } = this.#blobs.reader
    return this.#readFiles((files) =>
      toStatfsReport(files.getCounters(), this.#committer.quota, engine.getFreeBytes?.()),
    )
  }

  /** Everything done so far, by any call, survives power loss when it returns; in a batch, when that does. */
  fsync(): void {
    this.#committer.sync()
  }

  #getInode(ino: number, op: string): Inode {
    return this.#readFiles((files) => getInode(files, ino, op))
  }

  /** Looks at the files as they are; again, if a collection took what others have replaced meanwhile. */
  #readFiles<T>(see: (files: VaultFiles) => T): T {
    return this.#blobs.reader.runSync(() => see(this.#committer.files))
  }

  /** The number a new inode will have is known before it is made. */
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
      const inode = getInode(files, ino, op)
      return plan(files, inode, getJournalPath(files, ino, inode))
    })
    this.#blockCounts.invalidate(ino)
  }
}

function assertFile({ type }: Inode, ino: number, op: string): void {
  if (type === 'file') return
  throw new VfsError(type === 'directory' ? 'EISDIR' : 'EINVAL', `inode ${ino}`, { op })
}
