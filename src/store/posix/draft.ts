import { applyOperation } from '../files/apply.ts'
import { Files, type Moment } from '../files/files.ts'
import type { FileOperation, InodeOperation, Replaced } from '../files/operation.ts'
import type { NodeRef } from '../tree/node.ts'
import { isSameTime, type TreeValue } from '../tree/records.ts'
import type { Blobs } from '../vault/blobs.ts'
import { assertWithinQuota, type Quota } from '../vault/quota.ts'

type Patch = Extract<InodeOperation, { readonly op: 'patch' }>
type AttributeChange = Extract<InodeOperation, { readonly op: 'attributes' }>

/** An operation as it was asked for, with the versions it replaced. */
export interface DraftedOperation {
  readonly operation: FileOperation
  readonly before: Replaced
}

/** Mutations that are to be committed together, on a copy of the files where each can be seen at once. */
export class Draft {
  readonly files: Files
  readonly quota: Quota
  readonly moment: Moment
  readonly #blobs: Blobs
  readonly #base: NodeRef<TreeValue>
  #operations: FileOperation[] = []
  /** Where the last operation on an inode is, if that is one which a later one of its kind can be joined with. */
  #last = new Map<number, number>()
  #news: DraftedOperation[] = []
  /** Blobs of patches that were joined with later ones: those may have the same, or others in their place. */
  readonly #replaced = new Set<number>()

  constructor(files: Files, moment: Moment, quota: Quota, blobs: Blobs) {
    this.files = new Files(files.tree.fork())
    this.#base = this.files.tree.snapshot()
    this.#blobs = blobs
    this.moment = moment
    this.quota = quota
  }

  /** Applies an operation; one that throws has changed nothing. */
  add(operation: FileOperation): void {
    if (operation.op === 'attributes' && this.#isSoAlready(operation)) return
    const { changes } = this.files.tree
    const isShrinking =
      operation.op === 'patch' && operation.size < (this.files.inodeIfPresent(operation.inode)?.size ?? 0)
    try {
      this.#news.push({ operation, before: this.#apply(operation) })
    } catch (error) {
      // Nearly every refusal comes before the first change; the few others cost a second pass.
      if (this.files.tree.changes !== changes) this.#applyAllAgain()
      throw error
    }
    this.#note(operation)
    // What comes next must find it done: joined with something larger, it would take nothing away.
    if (isShrinking) this.#last.delete(operation.inode)
  }

  /** All that `work` adds, or nothing of it if it throws. */
  attempt(work: () => void): void {
    const [operations, last, news] = [[...this.#operations], new Map(this.#last), [...this.#news]]
    const before = this.files.tree.snapshot()
    try {
      work()
    } catch (error) {
      this.files.tree.reset(before)
      this.#operations = operations
      this.#last = last
      this.#news = news
      throw error
    }
  }

  /** Ends it: everything as one operation, null if there is nothing. */
  finish(): FileOperation | null {
    this.#discardReplaced()
    const [first, ...more] = this.#operations
    if (first === undefined) return null
    return more.length === 0 ? first : { op: 'batch', path: '/', operations: this.#operations }
  }

  /** How many operations it will be in the end. */
  get size(): number {
    return this.#operations.length
  }

  /** What was added since it was last asked, one by one. */
  takeNews(): readonly DraftedOperation[] {
    const news = this.#news
    this.#news = []
    return news
  }

  #apply(operation: FileOperation): Replaced {
    const before = this.files.counters()
    const replaced = applyOperation(this.files, operation, this.moment)
    assertWithinQuota(this.quota, operation, before, this.files.counters())
    return replaced
  }

  /** Whether a file has these attributes, and was changed at this very moment: unpacking sets most of them twice. */
  #isSoAlready({ inode: number, mode, uid, gid, atime, mtime }: AttributeChange): boolean {
    const inode = this.files.inodeIfPresent(number)
    if (inode === undefined || !isSameTime(inode.ctime, this.moment.time)) return false
    return (
      (mode === undefined || mode === inode.mode) &&
      (uid === undefined || uid === inode.uid) &&
      (gid === undefined || gid === inode.gid) &&
      (atime === undefined || isSameTime(atime, inode.atime)) &&
      (mtime === undefined || isSameTime(mtime, inode.mtime))
    )
  }

  #applyAllAgain(): void {
    this.files.tree.reset(this.#base)
    for (const operation of this.#operations) applyOperation(this.files, operation, this.moment)
  }

  /**
   * Several patches of a file become one, so that the journal tells of one version: the one there is at the end. So do
   * several changes of attributes, which programs make one by one.
   */
  #note(operation: FileOperation): void {
    if (operation.op === 'patch' || operation.op === 'attributes') {
      const index = this.#last.get(operation.inode)
      const earlier = index === undefined ? undefined : this.#operations[index]
      const both = earlier === undefined ? undefined : this.#joined(earlier, operation)
      if (index !== undefined && both !== undefined) {
        this.#operations[index] = both
        return
      }
      this.#last.set(operation.inode, this.#operations.length)
    } else if ('inode' in operation) this.#last.delete(operation.inode)
    else if ('operations' in operation) this.#last.clear()
    this.#operations.push(operation)
  }

  #joined(earlier: FileOperation, later: Patch | AttributeChange): FileOperation | undefined {
    if (earlier.op === 'attributes' && later.op === 'attributes') return { ...earlier, ...later }
    if (earlier.op !== 'patch' || later.op !== 'patch') return undefined
    for (const blob of blobsIn(earlier)) this.#replaced.add(blob)
    return joinedPatch(earlier, later)
  }

  /** Content that was written over before anybody else saw it need not be stored. */
  #discardReplaced(): void {
    for (const operation of this.#operations)
      for (const blob of blobsIn(operation)) this.#replaced.delete(blob)
    for (const blob of this.#replaced) this.#blobs.discard(blob)
  }
}

/** The blobs a patch brings; no other operation of a draft brings any. */
export function blobsIn(operation: FileOperation): number[] {
  if (operation.op !== 'patch') return []
  return operation.chunks.flatMap(([, chunk]) => (chunk === null ? [] : [chunk.blob]))
}

/** Two patches as one, if both leave the file at least as large and bring the same form of content. */
function joinedPatch(first: Patch, second: Patch): Patch | undefined {
  if (second.size < first.size || (first.inline === undefined) !== (second.inline === undefined))
    return undefined
  if (second.inline !== undefined) return second
  return { ...second, chunks: [...new Map([...first.chunks, ...second.chunks])].sort(byIndex) }
}

function byIndex([one]: Patch['chunks'][number], [other]: Patch['chunks'][number]): number {
  return one - other
}
