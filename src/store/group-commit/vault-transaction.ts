import { applyOperation } from '../files/apply.ts'
import type { FileOperation, InodeOperation, ReplacedVersion } from '../files/operation.ts'
import { type Moment, VaultFiles } from '../files/vault-files.ts'
import type { NodeRef } from '../tree/tree-node.ts'
import { isSameTime, type TreeValue } from '../tree/tree-values.ts'
import type { BlobStore } from '../vault/blob-store.ts'
import type { PreparedOperation } from '../vault/replica.ts'
import { assertWithinQuota, type VaultQuota } from '../vault/vault-quota.ts'
import { CoalescedOperations, type TransactionOperation } from './coalesced-operations.ts'
import { PendingCreates } from './pending-creates.ts'
import { RecoveryRows } from './recovery-rows.ts'
import { TransactionFiles } from './transaction-files.ts'

/**
 * Operations that are committed together as one. Each is applied at once to a fork of the vault's files, which later
 * operations read.
 */
export class VaultTransaction {
  /** The fork with every operation applied. */
  readonly files: VaultFiles
  readonly quota: VaultQuota
  readonly moment: Moment
  readonly #blobs: BlobStore
  /** The fork without the pending creates. */
  readonly #treeFiles: VaultFiles
  readonly #pendingCreates: PendingCreates
  readonly #baseRoot: NodeRef<TreeValue>
  readonly #operations = new CoalescedOperations()
  /** Operations since the last `takeNewOperations`, each on its own. */
  #newOperations: TransactionOperation[] = []
  readonly #recoveryRows: RecoveryRows

  constructor(files: VaultFiles, moment: Moment, quota: VaultQuota, blobs: BlobStore) {
    this.#treeFiles = new VaultFiles(files.tree.fork())
    this.#baseRoot = this.#treeFiles.tree.snapshot()
    this.#pendingCreates = new PendingCreates(moment)
    this.#recoveryRows = new RecoveryRows(moment.seq)
    this.files = new TransactionFiles(this.#treeFiles.tree, this.#pendingCreates, moment, () =>
      this.#applyPendingCreates(),
    )
    this.#blobs = blobs
    this.moment = moment
    this.quota = quota
  }

  /** Applies an operation. If it throws, nothing has changed. */
  apply(operation: FileOperation): void {
    if (operation.op === 'attributes' && this.#isUnchanged(operation)) return
    const inode = this.#findInode(operation)
    const replaced = this.#changePendingCreate(operation)
    if (replaced !== undefined) {
      this.#logOperation(operation, inode, replaced)
      return
    }
    this.#applyPendingCreates()
    const { changes } = this.#treeFiles.tree
    const isShrinking =
      operation.op === 'patch' && operation.size < (this.#treeFiles.findInode(operation.inode)?.size ?? 0)
    try {
      const before = this.#applyToTree(operation)
      this.#logOperation(operation, inode, before)
      this.#operations.add({ operation, before })
    } catch (error) {
      // Nearly every refusal comes before the first change; the few others cost a second pass.
      if (this.#treeFiles.tree.changes !== changes) this.#reapplyAll()
      throw error
    }
    // Joined with a patch that makes the file larger again, it would remove nothing.
    if (isShrinking) this.#operations.separate(operation.inode)
  }

  /** Runs work that applies operations. If it throws, none of them is applied. */
  runAtomically(work: () => void): void {
    this.#applyPendingCreates()
    const newOperations = [...this.#newOperations]
    const root = this.#treeFiles.tree.snapshot()
    const savepoints = [this.#operations.createSavepoint(), this.#recoveryRows.createSavepoint()]
    try {
      work()
    } catch (error) {
      this.#treeFiles.tree.reset(root)
      this.#pendingCreates.clear()
      this.#newOperations = newOperations
      for (const rollBack of savepoints) rollBack()
      throw error
    }
  }

  /** Returns everything as one operation with its result; null if there is no operation. Ends the transaction. */
  prepare(): PreparedOperation | null {
    this.#applyPendingCreates()
    // Content that was overwritten before a commit need not be stored.
    for (const blob of this.#operations.listUnusedBlobs()) this.#blobs.discard(blob)
    const { all } = this.#operations
    const [first, ...more] = all
    if (first === undefined) return null
    const result = { root: this.#treeFiles.tree.snapshot(), seq: this.moment.seq }
    if (more.length === 0) return { ...result, operation: first.operation, replaced: first.before }
    const operations = all.map(({ operation }) => operation)
    const replaced = all.map(({ before }) => before)
    return { ...result, operation: { op: 'batch', path: '/', operations }, replaced }
  }

  /** Number of operations after coalescing. */
  get size(): number {
    return this.#operations.all.length
  }

  /** Returns the operations since the last call, each as a journal row of its own would have it. */
  takeNewOperations(): readonly TransactionOperation[] {
    const operations = this.#newOperations
    this.#newOperations = []
    return operations
  }

  /** Adds an operation to those that go to the side log. */
  #logOperation(operation: FileOperation, inode: number | undefined, before: ReplacedVersion): void {
    this.#newOperations.push({ operation, before: this.#recoveryRows.add(operation, inode, before) })
  }

  /**
   * Finds the inode that an operation changes, where a later row refers to it. Called before the operation is applied.
   */
  #findInode(operation: FileOperation): number | undefined {
    if (operation.op === 'create') return this.files.getCounters().nextInode
    if (operation.op === 'unlink' || operation.op === 'move') {
      const dentry =
        operation.op === 'move' ? operation.target : ([operation.parent, operation.name] as const)
      return this.#recoveryRows.hasContent ? this.files.findEntry(...dentry)?.inode : undefined
    }
    if (operation.op === 'batch') return operation.operations.map((each) => this.#findInode(each))[0]
    return 'inode' in operation ? operation.inode : undefined
  }

  /** Applies an operation to the tree and checks the quota; returns the replaced version. */
  #applyToTree(operation: FileOperation): ReplacedVersion {
    const before = this.#treeFiles.getCounters()
    const replaced = applyOperation(this.#treeFiles, operation, this.moment)
    assertWithinQuota(this.quota, operation, before, this.#treeFiles.getCounters())
    return replaced
  }

  /** Applies an operation to a pending create; returns the replaced version, or undefined if it needs the tree. */
  #changePendingCreate(operation: FileOperation): number | null | undefined {
    if (operation.op === 'create') return this.#deferCreate(operation)
    if (operation.op !== 'patch' && operation.op !== 'attributes') return undefined
    const blob = this.#pendingCreates.findBlob(operation.inode)
    const replaced = this.#pendingCreates.apply(operation)
    if (operation.op === 'patch' && replaced !== undefined && blob !== undefined)
      this.#operations.markReplaced(blob)
    return replaced
  }

  /** Defers a create that cannot be refused. The tree refuses the others, for a quota or a taken name. */
  #deferCreate(operation: Extract<InodeOperation, { readonly op: 'create' }>): null | undefined {
    const { type, parent, name } = operation
    const isPlain = type === 'file' && Object.keys(this.quota).length === 0
    if (!isPlain || this.files.findEntry(parent, name) !== undefined) return undefined
    this.#pendingCreates.add(this.files.getCounters().nextInode, operation)
    return null
  }

  /** Moves the pending creates into the tree. */
  #applyPendingCreates(): void {
    if (this.#pendingCreates.count === 0) return
    const operations = this.#pendingCreates.listOperations()
    try {
      for (const operation of operations) applyOperation(this.#treeFiles, operation, this.moment)
    } catch (error) {
      // A page may be damaged. The creates are acknowledged, so they stay pending.
      this.#reapplyAll()
      throw error
    }
    this.#pendingCreates.clear()
    for (const operation of operations) this.#operations.add({ operation, before: null })
  }

  /** True if a file has these attributes and this change time: unpacking sets most of them twice. */
  #isUnchanged(operation: Extract<InodeOperation, { readonly op: 'attributes' }>): boolean {
    const { inode: number, mode, uid, gid, atime, mtime } = operation
    const inode = this.files.findInode(number)
    if (inode === undefined || !isSameTime(inode.ctime, this.moment.time)) return false
    return (
      (mode === undefined || mode === inode.mode) &&
      (uid === undefined || uid === inode.uid) &&
      (gid === undefined || gid === inode.gid) &&
      (atime === undefined || isSameTime(atime, inode.atime)) &&
      (mtime === undefined || isSameTime(mtime, inode.mtime))
    )
  }

  /** Restores the fork from its base, with all operations but the pending creates. */
  #reapplyAll(): void {
    this.#treeFiles.tree.reset(this.#baseRoot)
    for (const { operation } of this.#operations.all) applyOperation(this.#treeFiles, operation, this.moment)
  }
}
