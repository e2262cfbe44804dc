import type { FileOperation, InodeOperation, ReplacedVersion } from '../files/operation.ts'
import { listOperationBlobs } from '../files/operation-blobs.ts'

type PatchOperation = Extract<InodeOperation, { readonly op: 'patch' }>
type AttributeOperation = Extract<InodeOperation, { readonly op: 'attributes' }>

/** An operation with the versions it replaced. */
export interface TransactionOperation {
  readonly operation: FileOperation
  readonly before: ReplacedVersion
}

/**
 * The operations of a transaction in order. Several patches of a file become one, so that the journal has only the last
 * version of the file. Several attribute changes of an inode become one, too: programs make them one by one.
 */
export class CoalescedOperations {
  #operations: TransactionOperation[] = []
  /** Index of the last operation on an inode, if a later one of its kind may be joined with it. */
  #lastByInode = new Map<number, number>()
  /** Blobs of patches that were joined with later ones. The later patch may have the same blobs. */
  readonly #replacedBlobs = new Set<number>()

  get all(): readonly TransactionOperation[] {
    return this.#operations
  }

  /** Adds an operation, or joins it with an earlier one. */
  add(added: TransactionOperation): void {
    const { operation } = added
    if (operation.op === 'patch' || operation.op === 'attributes') {
      const index = this.#lastByInode.get(operation.inode)
      const earlier = index === undefined ? undefined : this.#operations[index]
      const joined = earlier === undefined ? undefined : this.#coalesce(earlier.operation, operation)
      if (index !== undefined && earlier !== undefined && joined !== undefined) {
        this.#operations[index] = { operation: joined, before: earlier.before }
        return
      }
      this.#lastByInode.set(operation.inode, this.#operations.length)
    } else if ('operations' in operation) this.#lastByInode.clear()
    else for (const inode of listTouchedInodes(operation)) this.#lastByInode.delete(inode)
    this.#operations.push(added)
  }

  /** Joins no later operation with the last one on an inode. */
  separate(inode: number): void {
    this.#lastByInode.delete(inode)
  }

  /** Records that later content replaced a blob. */
  markReplaced(blob: number): void {
    this.#replacedBlobs.add(blob)
  }

  /** Lists blobs that were replaced before any commit and that no operation refers to. */
  listUnusedBlobs(): number[] {
    if (this.#replacedBlobs.size === 0) return []
    const used = new Set(
      this.#operations.flatMap(({ operation }) => listOperationBlobs(operation).map(({ blob }) => blob)),
    )
    return [...this.#replacedBlobs].filter((blob) => !used.has(blob))
  }

  /** Returns a function that removes all operations added later. */
  createSavepoint(): () => void {
    const [operations, lastByInode] = [[...this.#operations], new Map(this.#lastByInode)]
    return () => {
      this.#operations = operations
      this.#lastByInode = lastByInode
    }
  }

  /** Joins two operations on one inode; undefined if they must stay apart. */
  #coalesce(earlier: FileOperation, later: PatchOperation | AttributeOperation): FileOperation | undefined {
    if (earlier.op === 'attributes' && later.op === 'attributes') return { ...earlier, ...later }
    if (earlier.op !== 'patch' || later.op !== 'patch') return undefined
    for (const { blob } of listOperationBlobs(earlier)) this.markReplaced(blob)
    return coalescePatches(earlier, later)
  }
}

/**
 * Lists the inodes that an operation names and changes, including directories whose times it sets. A later change of
 * them must stay later.
 */
function listTouchedInodes(operation: FileOperation): readonly number[] {
  if (operation.op === 'move') return [operation.from[0], operation.target[0]]
  const parents = 'parent' in operation ? [operation.parent] : []
  return 'inode' in operation ? [operation.inode, ...parents] : parents
}

/** Joins two patches; undefined if the second shrinks the file or has another form of content. */
function coalescePatches(first: PatchOperation, second: PatchOperation): PatchOperation | undefined {
  if (second.size < first.size || (first.inline === undefined) !== (second.inline === undefined))
    return undefined
  if (second.inline !== undefined) return second
  return { ...second, chunks: [...new Map([...first.chunks, ...second.chunks])].sort(compareChunkIndexes) }
}

function compareChunkIndexes(
  [one]: PatchOperation['chunks'][number],
  [other]: PatchOperation['chunks'][number],
): number {
  return one - other
}
