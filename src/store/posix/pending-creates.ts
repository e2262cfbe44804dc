import { createChangeFields, toContentRef, withAttributes } from '../files/inode-change.ts'
import type { InodeOperation, StoredContent } from '../files/operation.ts'
import type { Moment } from '../files/vault-files.ts'
import { CHUNK_BYTES, type DirectoryEntry, type Inode, isSameTime } from '../tree/tree-values.ts'

type OperationOf<Op extends InodeOperation['op']> = Extract<InodeOperation, { readonly op: Op }>
/** What is done to a file that exists. */
type InodeChange = OperationOf<'patch'> | OperationOf<'attributes'>

interface PendingCreate {
  readonly made: OperationOf<'create'>
  readonly inode: Inode
  /** Undefined if nothing was written yet. */
  readonly content?: StoredContent
}

/**
 * Files that were made and are in no tree yet. Programs make a file, write it and set its attributes in half a dozen
 * calls: kept apart until something else happens, it comes into the tree and into the journal as one operation.
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

  /** The sizes of all of them together. */
  get bytes(): number {
    return this.#bytes
  }

  findInode(number: number): Inode | undefined {
    return this.#byNumber.get(number)?.inode
  }

  /** Where the journal says it is made. */
  findPath(number: number): string | undefined {
    return this.#byNumber.get(number)?.made.path
  }

  /** The blob that has its content, if there is one. */
  findBlob(number: number): number | undefined {
    return this.#byNumber.get(number)?.content?.chunks?.[0]?.blob
  }

  findEntry(directory: number, name: string): DirectoryEntry | undefined {
    const inode = this.#byDirectory.get(directory)?.get(name)
    return inode === undefined ? undefined : { inode, type: 'file' }
  }

  /** Whether any is in a directory, which was changed by that. */
  hasEntriesIn(directory: number): boolean {
    return this.#byDirectory.has(directory)
  }

  add(number: number, made: OperationOf<'create'>): void {
    const { parent, name, type, mode, uid, gid } = made
    const { time, seq } = this.#moment
    const place = { parent, name, links: 1, version: seq }
    const times = { atime: time, mtime: time, ctime: time }
    const content = new Uint8Array(0)
    this.#byNumber.set(number, {
      made,
      inode: { type, mode, uid, gid, size: 0, content, ...times, ...place },
    })
    const names = this.#byDirectory.get(parent) ?? new Map<string, number>()
    this.#byDirectory.set(parent, names.set(name, number))
  }

  /** The version that was replaced; undefined if it is no change of a newborn, or one that needs a tree. */
  apply(operation: InodeChange): number | null | undefined {
    const newborn = this.#byNumber.get(operation.inode)
    if (newborn === undefined) return undefined
    const { inode } = newborn
    if (operation.op === 'attributes') {
      const next = withAttributes(inode, operation, this.#moment.time)
      this.#byNumber.set(operation.inode, { ...newborn, inode: next })
      return null
    }
    const content = findContentAfter(operation)
    if (content === undefined) return undefined
    const { size } = content
    this.#bytes += size - inode.size
    const next = { ...inode, size, content: toContentRef(content), ...createChangeFields(this.#moment) }
    this.#byNumber.set(operation.inode, { ...newborn, inode: next, content })
    return inode.version
  }

  /** Each as the one operation that makes it what it is now, in the order of their numbers. */
  listOperations(): OperationOf<'create'>[] {
    return Array.from(this.#byNumber.values(), (newborn) => this.#toCreateOperation(newborn))
  }

  clear(): void {
    this.#byNumber.clear()
    this.#byDirectory.clear()
    this.#bytes = 0
  }

  #toCreateOperation({ made, inode, content }: PendingCreate): OperationOf<'create'> {
    const { mode, uid, gid, atime, mtime } = inode
    const { time } = this.#moment
    return {
      ...made,
      mode,
      uid,
      gid,
      ...(content !== undefined && { content }),
      ...(!isSameTime(atime, time) && { atime }),
      ...(!isSameTime(mtime, time) && { mtime }),
    }
  }
}

/** All of the content a patch leaves, if that is in the patch. */
function findContentAfter({ size, inline, chunks }: OperationOf<'patch'>): StoredContent | undefined {
  if (inline !== undefined) return { size, inline }
  const [only] = chunks
  if (size > CHUNK_BYTES || chunks.length !== 1 || only === undefined) return undefined
  const [index, ref] = only
  return index === 0 && ref !== null && ref.size === size ? { size, chunks: [ref] } : undefined
}
