import { createChangeFields, toContentRef, withAttributes } from '../files/inode-change.ts'
import type { InodeOperation, StoredContent } from '../files/operation.ts'
import type { Moment } from '../files/vault-files.ts'
import { CHUNK_BYTES, type DirectoryEntry, type Inode, isSameTime } from '../tree/tree-values.ts'

type OperationOf<Op extends InodeOperation['op']> = Extract<InodeOperation, { readonly op: Op }>
/** An operation on an existing inode. */
type InodeChange = OperationOf<'patch'> | OperationOf<'attributes'>

interface PendingCreate {
  readonly operation: OperationOf<'create'>
  readonly inode: Inode
  /** Absent if nothing was written yet. */
  readonly content?: StoredContent
}

/**
 * Created files that are not in the tree yet. Programs create a file, write it and set its attributes in half a dozen
 * calls. While the file is pending, these calls change it here, and tree and journal get a single operation.
 */
export class PendingCreates {
  readonly #moment: Moment
  readonly #byNumber = new Map<number, PendingCreate>()
  readonly #byDirectory = new Map<number, Map<string, number>>()
  #bytes = 0

  constructor(moment: Moment) {
    this.#moment = moment
  }

  get count(): number {
    return this.#byNumber.size
  }

  /** Sum of the sizes. */
  get bytes(): number {
    return this.#bytes
  }

  findInode(number: number): Inode | undefined {
    return this.#byNumber.get(number)?.inode
  }

  /** Returns the path of a pending file in the journal. */
  findPath(number: number): string | undefined {
    return this.#byNumber.get(number)?.operation.path
  }

  /** Returns the blob with a file's content; undefined if the content is inline or absent. */
  findBlob(number: number): number | undefined {
    return this.#byNumber.get(number)?.content?.chunks?.[0]?.blob
  }

  findEntry(directory: number, name: string): DirectoryEntry | undefined {
    const inode = this.#byDirectory.get(directory)?.get(name)
    return inode === undefined ? undefined : { inode, type: 'file' }
  }

  /** True if a pending file is in this directory, which changes the times of the directory. */
  hasEntriesIn(directory: number): boolean {
    return this.#byDirectory.has(directory)
  }

  add(number: number, operation: OperationOf<'create'>): void {
    const { parent, name, type, mode, uid, gid } = operation
    const { time, seq } = this.#moment
    const dentry = { parent, name, links: 1, version: seq }
    const times = { atime: time, mtime: time, ctime: time }
    const content = new Uint8Array(0)
    this.#byNumber.set(number, {
      operation,
      inode: { type, mode, uid, gid, size: 0, content, ...times, ...dentry },
    })
    const names = this.#byDirectory.get(parent) ?? new Map<string, number>()
    this.#byDirectory.set(parent, names.set(name, number))
  }

  /** Applies an operation; returns the replaced version, or undefined if the file or the change needs the tree. */
  apply(operation: InodeChange): number | null | undefined {
    const pending = this.#byNumber.get(operation.inode)
    if (pending === undefined) return undefined
    const { inode } = pending
    if (operation.op === 'attributes') {
      const next = withAttributes(inode, operation, this.#moment.time)
      this.#byNumber.set(operation.inode, { ...pending, inode: next })
      return null
    }
    const content = findContentAfter(operation)
    if (content === undefined) return undefined
    const { size } = content
    this.#bytes += size - inode.size
    const next = { ...inode, size, content: toContentRef(content), ...createChangeFields(this.#moment) }
    this.#byNumber.set(operation.inode, { ...pending, inode: next, content })
    return inode.version
  }

  /** Lists for each file the single operation that creates it as it is now, in the order of inode numbers. */
  listOperations(): OperationOf<'create'>[] {
    return Array.from(this.#byNumber.values(), (pending) => this.#toCreateOperation(pending))
  }

  clear(): void {
    this.#byNumber.clear()
    this.#byDirectory.clear()
    this.#bytes = 0
  }

  #toCreateOperation({ operation, inode, content }: PendingCreate): OperationOf<'create'> {
    const { mode, uid, gid, atime, mtime } = inode
    const { time } = this.#moment
    return {
      ...operation,
      mode,
      uid,
      gid,
      ...(content !== undefined && { content }),
      ...(!isSameTime(atime, time) && { atime }),
      ...(!isSameTime(mtime, time) && { mtime }),
    }
  }
}

/** Returns the whole content after a patch, if the patch has all of it. */
function findContentAfter({ size, inline, chunks }: OperationOf<'patch'>): StoredContent | undefined {
  if (inline !== undefined) return { size, inline }
  const [only] = chunks
  if (size > CHUNK_BYTES || chunks.length !== 1 || only === undefined) return undefined
  const [index, ref] = only
  return index === 0 && ref !== null && ref.size === size ? { size, chunks: [ref] } : undefined
}
