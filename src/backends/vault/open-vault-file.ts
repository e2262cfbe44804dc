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

/** Stores of orphans, by the last snapshot that has the file: all its handles have the same one. */
const orphanStores = new WeakMap<VaultFiles, BackingStore>()

/**
 * An open file. It follows renames. It is unlinked once any process has removed its last name, and an orphan once that
 * is committed: from then on it is written in memory only. An asynchronous engine has no orphans.
 */
export class OpenVaultFile {
  readonly #path: string
  readonly #initialStore: BackingStore
  readonly #inode: OpenInode

  /** @param path the path at open, for errors. */
  constructor(path: string, initialStore: BackingStore, inode: number) {
    this.#path = path
    this.#initialStore = initialStore
    // A remote engine has no orphans: see `OpenInodes`.
    this.#inode = initialStore.blobs.reader.isRemote
      ? { number: inode, isUnlinked: false, lastFiles: undefined, close: () => {} }
      : initialStore.source.openInodes.open(inode)
  }

  /** True if the file is an orphan, as far as this process has seen. */
  get isOrphan(): boolean {
    return this.#inode.lastFiles !== undefined
  }

  /** The current store: that of the vault, or of the orphan. */
  get store(): BackingStore {
    const { lastFiles } = this.#inode
    return lastFiles === undefined ? this.#initialStore : this.#getOrphanStore(lastFiles)
  }

  /** Returns the current state of the file. Throws ENOENT if it is unlinked and no orphan. */
  getTarget(op: string): OpenTarget {
    // This read catches up with other processes. Only then is it known whether the file is an orphan.
    const files = this.#initialStore.source.readFiles()
    const { source, blobs } = this.store
    return this.#toTarget(this.isOrphan ? source.readFiles() : files, blobs, op)
  }

  /** Returns a plan for the current store. The plan throws ENOENT if the file was unlinked since. */
  createPlan(op: string, decide: (target: OpenTarget) => ReturnType<OperationPlan>): OperationPlan {
    const wasOrphan = this.isOrphan
    const { blobs } = this.store
    return (files) => {
      // The plan runs later. Others may have unlinked the file by then, and its inode number may name a new file.
      if (this.#inode.isUnlinked && !wasOrphan) throw this.#createRemovedError(op)
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

  #getOrphanStore(lastFiles: VaultFiles): BackingStore {
    const existing = orphanStores.get(lastFiles)
    if (existing !== undefined) return existing
    const { blobs } = this.#initialStore
    const store = {
      source: new DetachedFiles(lastFiles, blobs.reader),
      // That of a vault would commit the orphan's new blobs. One that cannot stays: it alone has its staged blobs.
      blobs: blobs.canCommit ? new BlobStore(blobs.reader, blobs.nextId, { canCommit: false }) : blobs,
    }
    orphanStores.set(lastFiles, store)
    return store
  }
}
