import {
  BlobStore,
  getJournalPath,
  type OpenInode,
  type OperationPlan,
  type VaultFiles,
} from '../../store/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { DetachedFiles } from './detached-files.ts'
import type { FilesSource } from './files-source.ts'

/** Files, and where their bytes are. */
export interface BackingStore {
  readonly source: FilesSource
  readonly blobs: BlobStore
}

/** A file as it is, for whoever reads or changes it. */
interface OpenTarget {
  readonly files: VaultFiles
  readonly blobs: BlobStore
  readonly inode: number
  /** Where the journal says it is. */
  readonly path: string
}

/** Where an append goes, decided on the very state it is committed to. */
export function getEnd({ files, inode }: OpenTarget): number {
  return files.getInode(inode).size
}

/** What was removed while it was open, for all who have it open: seen by nobody else, stored nowhere. */
const orphans = new WeakMap<VaultFiles, BackingStore>()

/**
 * A file that somebody has open. It stays with the file when that is renamed, and has it still when it is removed, by
 * whichever process; only where the engine lets callers wait, a removed file is ENOENT.
 */
export class OpenVaultFile {
  readonly #path: string
  readonly #initialStore: BackingStore
  readonly #inode: OpenInode

  /** @param path where it was opened, for errors. */
  constructor(path: string, ground: BackingStore, inode: number) {
    this.#path = path
    this.#initialStore = ground
    const isHeld = ground.blobs.reader.engine.isSync === true
    this.#inode = isHeld
      ? ground.source.openInodes.open(inode)
      : { number: inode, isGone: false, lost: undefined, close: () => {} }
  }

  /** Whether it has no name any more, as far as was seen. */
  get isLost(): boolean {
    return this.#inode.lost !== undefined
  }

  /** Where it is now: in the vault, or apart from it. */
  get store(): BackingStore {
    const { lost } = this.#inode
    return lost === undefined ? this.#initialStore : this.#getOrphanStore(lost)
  }

  /** The file as everybody left it. ENOENT. */
  getTarget(op: string): OpenTarget {
    // Asked first: it takes in what others did, and only then is it known whether this file is still there.
    const files = this.#initialStore.source.readFiles()
    const { source, blobs } = this.store
    return this.#toTarget(this.isLost ? source.readFiles() : files, blobs, op)
  }

  /** A plan for its ground as it is now. */
  createPlan(op: string, decide: (target: OpenTarget) => ReturnType<OperationPlan>): OperationPlan {
    const { isLost } = this
    const { blobs } = this.store
    return (files) => {
      // Asked again: what others did may be known only now, and its number may name another file already.
      if (this.#inode.isGone && !isLost) throw this.#createRemovedError(op)
      return decide(this.#toTarget(files, blobs, op))
    }
  }

  close(): void {
    this.#inode.close()
  }

  #toTarget(files: VaultFiles, blobs: BlobStore, op: string): OpenTarget {
    const inode = this.#inode.number
    const there = files.findInode(inode)
    if (there === undefined) throw this.#createRemovedError(op)
    return { files, blobs, inode, path: getJournalPath(files, inode, there) }
  }

  #createRemovedError(op: string): VfsError {
    return new VfsError('ENOENT', this.#path, { op, detail: 'the file was removed while it was open' })
  }

  #getOrphanStore(lost: VaultFiles): BackingStore {
    const known = orphans.get(lost)
    if (known !== undefined) return known
    const { blobs } = this.#initialStore
    // Its blobs never wait for a commit, so they must not be among those that do.
    const isApart = blobs.maxStagedBytes === Number.POSITIVE_INFINITY
    const own = isApart ? blobs : new BlobStore(blobs.reader, blobs.nextId, Number.POSITIVE_INFINITY)
    const orphan = { source: new DetachedFiles(lost, blobs.reader), blobs: own }
    orphans.set(lost, orphan)
    return orphan
  }
}
