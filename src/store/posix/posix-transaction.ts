import { applyOperation } from '../files/apply.ts'
import type { FileOperation, InodeOperation, ReplacedVersion } from '../files/operation.ts'
import { listOperationBlobs } from '../files/operation-blobs.ts'
import { type Moment, VaultFiles } from '../files/vault-files.ts'
import type { NodeRef } from '../tree/tree-node.ts'
import { isSameTime, type TreeValue } from '../tree/tree-values.ts'
import type { BlobStore } from '../vault/blob-store.ts'
import type { PreparedOperation } from '../vault/replica.ts'
import { assertWithinQuota, type VaultQuota } from '../vault/vault-quota.ts'
import { PendingCreates } from './pending-creates.ts'
import { RecoveryRows } from './recovery-rows.ts'
import { TransactionFiles } from './transaction-files.ts'

type PatchChange = Extract<InodeOperation, { readonly op: 'patch' }>
type AttributeChange = Extract<InodeOperation, { readonly op: 'attributes' }>

/** An operation with the versions it replaced. */
export interface TransactionOperation {
  readonly operation: FileOperation
  readonly before: ReplacedVersion
}

/** Mutations that are to be committed together, on a copy of the files where each can be seen at once. */
export class PosixTransaction {
  /** The copy, with everything that was added. */
  readonly files: VaultFiles
  readonly quota: VaultQuota
  readonly moment: Moment
  readonly #blobs: BlobStore
  /** The files that are in the tree. */
  readonly #treeFiles: VaultFiles
  readonly #pendingCreates: PendingCreates
  readonly #baseRoot: NodeRef<TreeValue>
  #operations: TransactionOperation[] = []
  /** Where the last operation on an inode is, if that is one which a later one of its kind can be joined with. */
  #lastByInode = new Map<number, number>()
  #newOperations: TransactionOperation[] = []
  readonly #recoveryRows: RecoveryRows
  /** Blobs of patches that were joined with later ones: those may have the same, or others in their place. */
  readonly #replacedBlobs = new Set<number>()

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

  /** Applies an operation; one that throws has changed nothing. */
  apply(operation: FileOperation): void {
    if (operation.op === 'attributes' && this.#isUnchanged(operation)) return
    const inode = this.#findInode(operation)
    const before = this.#changePendingCreate(operation)
    if (before !== undefined) {
      this.#logOperation(operation, inode, before)
      return
    }
    this.#applyPendingCreates()
    const { changes } = this.#treeFiles.tree
    const isShrinking =
      operation.op === 'patch' && operation.size < (this.#treeFiles.findInode(operation.inode)?.size ?? 0)
    try {
      const drafted = { operation, before: this.#applyToTree(operation) }
      this.#logOperation(operation, inode, drafted.before)
      this.#addOperation(drafted)
    } catch (error) {
      // Nearly every refusal comes before the first change; the few others cost a second pass.
      if (this.#treeFiles.tree.changes !== changes) this.#reapplyAll()
      throw error
    }
    // What comes next must find it done: joined with something larger, it would take nothing away.
    if (isShrinking) this.#lastByInode.delete(operation.inode)
  }

  /** All that `work` adds, or nothing of it if it throws. */
  runAtomically(work: () => void): void {
    this.#applyPendingCreates()
    const [operations, last, news] = [
      [...this.#operations],
      new Map(this.#lastByInode),
      [...this.#newOperations],
    ]
    const before = this.#treeFiles.tree.snapshot()
    const unmark = this.#recoveryRows.createSavepoint()
    try {
      work()
    } catch (error) {
      this.#treeFiles.tree.reset(before)
      this.#pendingCreates.clear()
      this.#operations = operations
      this.#lastByInode = last
      this.#newOperations = news
      unmark()
      throw error
    }
  }

  /** Ends it: everything as one operation, and what it does; null if there is nothing. */
  prepare(): PreparedOperation | null {
    this.#applyPendingCreates()
    this.#discardReplaced()
    const [first, ...more] = this.#operations
    if (first === undefined) return null
    const made = { root: this.#treeFiles.tree.snapshot(), seq: this.moment.seq }
    if (more.length === 0) return { ...made, operation: first.operation, replaced: first.before }
    const operations = this.#operations.map(({ operation }) => operation)
    const replaced = this.#operations.map(({ before }) => before)
    return { ...made, operation: { op: 'batch', path: '/', operations }, replaced }
  }

  /** How many operations it will be in the end. */
  get size(): number {
    return this.#operations.length
  }

  /** What was added since it was last asked, one by one, as rows of the journal. */
  takeNewOperations(): readonly TransactionOperation[] {
    const news = this.#newOperations
    this.#newOperations = []
    return news
  }

  #logOperation(operation: FileOperation, inode: number | undefined, before: ReplacedVersion): void {
    this.#newOperations.push({ operation, before: this.#recoveryRows.add(operation, inode, before) })
  }

  /** Which inode an operation is about, where that matters to a later one. Asked before it is applied. */
  #findInode(operation: FileOperation): number | undefined {
    if (operation.op === 'create') return this.files.getCounters().nextInode
    if (operation.op === 'unlink' || operation.op === 'move') {
      const place = operation.op === 'move' ? operation.target : ([operation.parent, operation.name] as const)
      return this.#recoveryRows.hasContent ? this.files.findEntry(...place)?.inode : undefined
    }
    if (operation.op === 'batch') return operation.operations.map((each) => this.#findInode(each))[0]
    return 'inode' in operation ? operation.inode : undefined
  }

  #applyToTree(operation: FileOperation): ReplacedVersion {
    const before = this.#treeFiles.getCounters()
    const replaced = applyOperation(this.#treeFiles, operation, this.moment)
    assertWithinQuota(this.quota, operation, before, this.#treeFiles.getCounters())
    return replaced
  }

  /** The version that was replaced; undefined if the operation has to be applied to the tree. */
  #changePendingCreate(operation: FileOperation): number | null | undefined {
    if (operation.op === 'create') return this.#deferCreate(operation)
    if (operation.op !== 'patch' && operation.op !== 'attributes') return undefined
    const had = this.#pendingCreates.findBlob(operation.inode)
    const before = this.#pendingCreates.apply(operation)
    if (operation.op === 'patch' && before !== undefined && had !== undefined) this.#replacedBlobs.add(had)
    return before
  }

  /** What a quota or a name stands against is refused where everything is: in the tree. */
  #deferCreate(operation: Extract<InodeOperation, { readonly op: 'create' }>): null | undefined {
    const { type, parent, name } = operation
    const isPlain = type === 'file' && Object.keys(this.quota).length === 0
    if (!isPlain || this.files.findEntry(parent, name) !== undefined) return undefined
    this.#pendingCreates.add(this.files.getCounters().nextInode, operation)
    return null
  }

  #applyPendingCreates(): void {
    if (this.#pendingCreates.count === 0) return
    const operations = this.#pendingCreates.listOperations()
    try {
      for (const operation of operations) applyOperation(this.#treeFiles, operation, this.moment)
    } catch (error) {
      // A damaged page, for one: they are acknowledged, and stay what they are.
      this.#reapplyAll()
      throw error
    }
    this.#pendingCreates.clear()
    for (const operation of operations) this.#addOperation({ operation, before: null })
  }

  /** Whether a file has these attributes, and was changed at this very moment: unpacking sets most of them twice. */
  #isUnchanged({ inode: number, mode, uid, gid, atime, mtime }: AttributeChange): boolean {
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

  #reapplyAll(): void {
    this.#treeFiles.tree.reset(this.#baseRoot)
    for (const { operation } of this.#operations) applyOperation(this.#treeFiles, operation, this.moment)
  }

  /**
   * Several patches of a file become one, so that the journal tells of one version: the one there is at the end. So do
   * several changes of attributes, which programs make one by one.
   */
  #addOperation(drafted: TransactionOperation): void {
    const { operation } = drafted
    if (operation.op === 'patch' || operation.op === 'attributes') {
      const index = this.#lastByInode.get(operation.inode)
      const earlier = index === undefined ? undefined : this.#operations[index]
      const both = earlier === undefined ? undefined : this.#coalesce(earlier.operation, operation)
      if (index !== undefined && earlier !== undefined && both !== undefined) {
        this.#operations[index] = { operation: both, before: earlier.before }
        return
      }
      this.#lastByInode.set(operation.inode, this.#operations.length)
    } else if ('operations' in operation) this.#lastByInode.clear()
    else for (const inode of listTouchedInodes(operation)) this.#lastByInode.delete(inode)
    this.#operations.push(drafted)
  }

  #coalesce(earlier: FileOperation, later: PatchChange | AttributeChange): FileOperation | undefined {
    if (earlier.op === 'attributes' && later.op === 'attributes') return { ...earlier, ...later }
    if (earlier.op !== 'patch' || later.op !== 'patch') return undefined
    for (const { blob } of listOperationBlobs(earlier)) this.#replacedBlobs.add(blob)
    return coalescePatches(earlier, later)
  }

  /** Content that was written over before anybody else saw it need not be stored. */
  #discardReplaced(): void {
    for (const { operation } of this.#operations)
      for (const { blob } of listOperationBlobs(operation)) this.#replacedBlobs.delete(blob)
    for (const blob of this.#replacedBlobs) this.#blobs.discard(blob)
  }
}

/** The inodes an operation changes, such as a directory whose times it sets: what they get later must stay later. */
function listTouchedInodes(operation: FileOperation): readonly number[] {
  if (operation.op === 'move') return [operation.from[0], operation.target[0]]
  const named = 'parent' in operation ? [operation.parent] : []
  return 'inode' in operation ? [operation.inode, ...named] : named
}

/** Two patches as one, if both leave the file at least as large and bring the same form of content. */
function coalescePatches(first: PatchChange, second: PatchChange): PatchChange | undefined {
  if (second.size < first.size || (first.inline === undefined) !== (second.inline === undefined))
    return undefined
  if (second.inline !== undefined) return second
  return { ...second, chunks: [...new Map([...first.chunks, ...second.chunks])].sort(compareChunkIndexes) }
}

function compareChunkIndexes(
  [one]: PatchChange['chunks'][number],
  [other]: PatchChange['chunks'][number],
): number {
  return one - other
}
