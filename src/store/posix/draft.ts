import { applyOperation } from '../files/apply.ts'
import { Files, type Moment } from '../files/files.ts'
import type { FileOperation, InodeOperation, Replaced } from '../files/operation.ts'
import { blobsIn } from '../files/operation-blobs.ts'
import type { NodeRef } from '../tree/node.ts'
import { isSameTime, type TreeValue } from '../tree/records.ts'
import type { Blobs } from '../vault/blobs.ts'
import { assertWithinQuota, type Quota } from '../vault/quota.ts'
import type { Outcome } from '../vault/replica.ts'
import { DraftedFiles } from './drafted-files.ts'
import { KeptRows } from './kept-rows.ts'
import { Newborns } from './newborns.ts'

type Patch = Extract<InodeOperation, { readonly op: 'patch' }>
type AttributeChange = Extract<InodeOperation, { readonly op: 'attributes' }>

/** An operation with the versions it replaced. */
export interface DraftedOperation {
  readonly operation: FileOperation
  readonly before: Replaced
}

/** Mutations that are to be committed together, on a copy of the files where each can be seen at once. */
export class Draft {
  /** The copy, with everything that was added. */
  readonly files: Files
  readonly quota: Quota
  readonly moment: Moment
  readonly #blobs: Blobs
  /** The files that are in the tree. */
  readonly #grown: Files
  readonly #newborns: Newborns
  readonly #base: NodeRef<TreeValue>
  #operations: DraftedOperation[] = []
  /** Where the last operation on an inode is, if that is one which a later one of its kind can be joined with. */
  #last = new Map<number, number>()
  #news: DraftedOperation[] = []
  readonly #rows: KeptRows
  /** Blobs of patches that were joined with later ones: those may have the same, or others in their place. */
  readonly #replaced = new Set<number>()

  constructor(files: Files, moment: Moment, quota: Quota, blobs: Blobs) {
    this.#grown = new Files(files.tree.fork())
    this.#base = this.#grown.tree.snapshot()
    this.#newborns = new Newborns(moment)
    this.#rows = new KeptRows(moment.seq)
    this.files = new DraftedFiles(this.#grown.tree, this.#newborns, moment, () => this.#putInTree())
    this.#blobs = blobs
    this.moment = moment
    this.quota = quota
  }

  /** Applies an operation; one that throws has changed nothing. */
  add(operation: FileOperation): void {
    if (operation.op === 'attributes' && this.#isSoAlready(operation)) return
    const inode = this.#inodeOf(operation)
    const before = this.#changeNewborn(operation)
    if (before !== undefined) {
      this.#tell(operation, inode, before)
      return
    }
    this.#putInTree()
    const { changes } = this.#grown.tree
    const isShrinking =
      operation.op === 'patch' && operation.size < (this.#grown.inodeIfPresent(operation.inode)?.size ?? 0)
    try {
      const drafted = { operation, before: this.#apply(operation) }
      this.#tell(operation, inode, drafted.before)
      this.#note(drafted)
    } catch (error) {
      // Nearly every refusal comes before the first change; the few others cost a second pass.
      if (this.#grown.tree.changes !== changes) this.#applyAllAgain()
      throw error
    }
    // What comes next must find it done: joined with something larger, it would take nothing away.
    if (isShrinking) this.#last.delete(operation.inode)
  }

  /** All that `work` adds, or nothing of it if it throws. */
  attempt(work: () => void): void {
    this.#putInTree()
    const [operations, last, news] = [[...this.#operations], new Map(this.#last), [...this.#news]]
    const before = this.#grown.tree.snapshot()
    const unmark = this.#rows.mark()
    try {
      work()
    } catch (error) {
      this.#grown.tree.reset(before)
      this.#newborns.clear()
      this.#operations = operations
      this.#last = last
      this.#news = news
      unmark()
      throw error
    }
  }

  /** Ends it: everything as one operation, and what it does; null if there is nothing. */
  finish(): Outcome | null {
    this.#putInTree()
    this.#discardReplaced()
    const [first, ...more] = this.#operations
    if (first === undefined) return null
    const made = { root: this.#grown.tree.snapshot(), seq: this.moment.seq }
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
  takeNews(): readonly DraftedOperation[] {
    const news = this.#news
    this.#news = []
    return news
  }

  #tell(operation: FileOperation, inode: number | undefined, before: Replaced): void {
    this.#news.push({ operation, before: this.#rows.add(operation, inode, before) })
  }

  /** Which inode an operation is about, where that matters to a later one. Asked before it is applied. */
  #inodeOf(operation: FileOperation): number | undefined {
    if (operation.op === 'create') return this.files.counters().nextInode
    if (operation.op === 'unlink' || operation.op === 'move') {
      const place = operation.op === 'move' ? operation.target : ([operation.parent, operation.name] as const)
      return this.#rows.hasContent ? this.files.entry(...place)?.inode : undefined
    }
    if (operation.op === 'batch') return operation.operations.map((each) => this.#inodeOf(each))[0]
    return 'inode' in operation ? operation.inode : undefined
  }

  #apply(operation: FileOperation): Replaced {
    const before = this.#grown.counters()
    const replaced = applyOperation(this.#grown, operation, this.moment)
    assertWithinQuota(this.quota, operation, before, this.#grown.counters())
    return replaced
  }

  /** The version that was replaced; undefined if the operation has to be applied to the tree. */
  #changeNewborn(operation: FileOperation): number | null | undefined {
    if (operation.op === 'create') return this.#bear(operation)
    if (operation.op !== 'patch' && operation.op !== 'attributes') return undefined
    const had = this.#newborns.blobOf(operation.inode)
    const before = this.#newborns.change(operation)
    if (operation.op === 'patch' && before !== undefined && had !== undefined) this.#replaced.add(had)
    return before
  }

  /** What a quota or a name stands against is refused where everything is: in the tree. */
  #bear(operation: Extract<InodeOperation, { readonly op: 'create' }>): null | undefined {
    const { type, parent, name } = operation
    const isPlain = type === 'file' && Object.keys(this.quota).length === 0
    if (!isPlain || this.files.entry(parent, name) !== undefined) return undefined
    this.#newborns.add(this.files.counters().nextInode, operation)
    return null
  }

  #putInTree(): void {
    if (this.#newborns.count === 0) return
    const operations = this.#newborns.operations()
    try {
      for (const operation of operations) applyOperation(this.#grown, operation, this.moment)
    } catch (error) {
      // A damaged page, for one: they are acknowledged, and stay what they are.
      this.#applyAllAgain()
      throw error
    }
    this.#newborns.clear()
    for (const operation of operations) this.#note({ operation, before: null })
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
    this.#grown.tree.reset(this.#base)
    for (const { operation } of this.#operations) applyOperation(this.#grown, operation, this.moment)
  }

  /**
   * Several patches of a file become one, so that the journal tells of one version: the one there is at the end. So do
   * several changes of attributes, which programs make one by one.
   */
  #note(drafted: DraftedOperation): void {
    const { operation } = drafted
    if (operation.op === 'patch' || operation.op === 'attributes') {
      const index = this.#last.get(operation.inode)
      const earlier = index === undefined ? undefined : this.#operations[index]
      const both = earlier === undefined ? undefined : this.#joined(earlier.operation, operation)
      if (index !== undefined && earlier !== undefined && both !== undefined) {
        this.#operations[index] = { operation: both, before: earlier.before }
        return
      }
      this.#last.set(operation.inode, this.#operations.length)
    } else if ('operations' in operation) this.#last.clear()
    else for (const inode of touchedBy(operation)) this.#last.delete(inode)
    this.#operations.push(drafted)
  }

  #joined(earlier: FileOperation, later: Patch | AttributeChange): FileOperation | undefined {
    if (earlier.op === 'attributes' && later.op === 'attributes') return { ...earlier, ...later }
    if (earlier.op !== 'patch' || later.op !== 'patch') return undefined
    for (const { blob } of blobsIn(earlier)) this.#replaced.add(blob)
    return joinedPatch(earlier, later)
  }

  /** Content that was written over before anybody else saw it need not be stored. */
  #discardReplaced(): void {
    for (const { operation } of this.#operations)
      for (const { blob } of blobsIn(operation)) this.#replaced.delete(blob)
    for (const blob of this.#replaced) this.#blobs.discard(blob)
  }
}

/** The inodes an operation changes, such as a directory whose times it sets: what they get later must stay later. */
function touchedBy(operation: FileOperation): readonly number[] {
  if (operation.op === 'move') return [operation.from[0], operation.target[0]]
  const named = 'parent' in operation ? [operation.parent] : []
  return 'inode' in operation ? [operation.inode, ...named] : named
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
