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

/** Files with the store of their content. */
export interface BackingStore {
  readonly source: FilesSource
  readonly blobs: BlobStore
}

/** The current state of an open file. */
interface OpenTarget {
  readonly files: VaultFiles
  readonly blobs: BlobStore
  readonly inode: number
  /** The path for the journal. */
  readonly path: string
}

/** Returns the position of an append, from the state that it is committed to. */
export function getEnd({ files, inode }: OpenTarget): number {
  return files.getInode(inode).size
}

/** Stores of files that were removed while open. All handles of a file share one, in memory only. */
const orphans = new WeakMap<VaultFiles, BackingStore>()

/**
 * An open file. It follows renames, and stays readable and writable after any process removes the file. On an
 * asynchronous engine a removed file is ENOENT.
 */
export class OpenVaultFile {
  readonly #path: string
  readonly #initialStore: BackingStore
  readonly #inode: OpenInode

  /** @param path the path at open, for errors. */
  constructor(path: string, initialStore: BackingStore, inode: number) {
    this.#path = path
    this.#initialStore = initialStore
    const isHeld = initialStore.blobs.reader.engine.isSync === true
    this.#inode = isHeld
      ? initialStore.source.openInodes.open(inode)
      : { number: inode, isGone: false, lost: undefined, close: () => {} }
  }

  /** True if the file's last name was removed, as far as this process has seen. */
  get isLost(): boolean {
    return this.#inode.lost !== undefined
  }

  /** The current store: the vault, or the orphan store after a removal. */
  get store(): BackingStore {
    const { lost } = this.#inode
    return lost === undefined ? this.#initialStore : this.#getOrphanStore(lost)
  }

  /** Returns the current state of the file. ENOENT. */
  getTarget(op: string): OpenTarget {
    // Read first: it catches up with other processes, which may have removed this file.
    const files = this.#initialStore.source.readFiles()
    const { source, blobs } = this.store
    return this.#toTarget(this.isLost ? source.readFiles() : files, blobs, op)
  }

  /** Returns a plan for the current store. */
  createPlan(op: string, decide: (target: OpenTarget) => ReturnType<OperationPlan>): OperationPlan {
    const { isLost } = this
    const { blobs } = this.store
    return (files) => {
      // Checked again: a removal may be known only now, and the inode number may be reused.
      if (this.#inode.isGone && !isLost) throw this.#createRemovedError(op)
      return decide(this.#toTarget(files, blobs, op))
    }
  }

  close(): void {
    this.#inode.close()
  }

  #toTarget(files: VaultFiles, blobs: BlobStore, op: string): OpenTarget {
    const inode = this.#inode.number
    const found = files.findInode(inode)
    if (found === undefined) throw this.#createRemovedError(op)
    return { files, blobs, inode, path: getJournalPath(files, inode, found) }
  }

  #createRemovedError(op: string): VfsError {
    return new VfsError('ENOENT', this.#path, { op, detail: 'the file was removed while it was open' })
  }

  #getOrphanStore(lost: VaultFiles): BackingStore {
    const existing = orphans.get(lost)
    if (existing !== undefined) return existing
    const { blobs } = this.#initialStore
    // Its blobs are never committed, so they must not be staged with the others.
    const isDetached = blobs.maxStagedBytes === Number.POSITIVE_INFINITY
    const own = isDetached ? blobs : new BlobStore(blobs.reader, blobs.nextId, Number.POSITIVE_INFINITY)
    const orphan = { source: new DetachedFiles(lost, blobs.reader), blobs: own }
    orphans.set(lost, orphan)
    return orphan
  }
}
