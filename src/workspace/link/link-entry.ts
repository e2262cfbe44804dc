import { type FileTime, isErrno, toNanoseconds } from '../../machine/index.ts'
import type { FileType } from '../../vfs/index.ts'

/** A file, directory or link in a vault or on this machine, with everything needed to recreate it. */
export interface LinkEntry {
  readonly type: FileType
  /** Permission bits only. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly mtime: FileTime
  /** Size of a file; 0 for any other type. */
  readonly size: number
  /** Target of a symbolic link; empty for anything else. */
  readonly target: string
  /** Reads the bytes of a file from its beginning, on demand. */
  content(): Iterable<Uint8Array>
  /** Returns where the home has the content, for entries of its vaults. Undefined if that is in no single place. */
  readonly getReference?: (() => EntryContentReference | undefined) | undefined
  /** True if the file has several names in its vault. */
  readonly hasOtherNames?: boolean
}

/** Id of content in a home, and the checksum of its bytes. */
export interface EntryContentReference {
  readonly id: number
  readonly checksum: number
}

export const PERMISSION_BITS = 0o7777
/** Node sets the time of a file less exactly than a disk stores it. */
const TIME_TOLERANCE_NANOS = 2000n

/** True if two entries have the same visible content. Times and owners do not count: they change without an edit. */
export function isSameEntry(one: LinkEntry | undefined, other: LinkEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  if (one.type !== other.type) return false
  if (one.type === 'symlink') return one.target === other.target
  if (one.mode !== other.mode) return false
  return one.type !== 'file' || (one.size === other.size && isSameContent(one, other))
}

/** Reads the whole content of a file. */
export function readEntry(entry: LinkEntry): Uint8Array {
  return Buffer.concat([...entry.content()])
}

/** Returns a file with other content. */
export function createFileEntry(entry: LinkEntry, content: Uint8Array): LinkEntry {
  return { ...entry, size: content.length, content: () => [content], getReference: undefined }
}

/**
 * True if two files of one size have the same bytes. Compares the times if this user may not read one of them: a command
 * may have removed that permission.
 */
function isSameContent(one: LinkEntry, other: LinkEntry): boolean {
  const [reference, otherReference] = [one.getReference?.(), other.getReference?.()]
  if (reference !== undefined && otherReference !== undefined) {
    if (reference.id === otherReference.id) return true
    if (reference.checksum !== otherReference.checksum) return false
  }
  try {
    return hasSameBytes(one, other)
  } catch (error) {
    if (!isErrno(error, 'EACCES')) throw error
    return isSameTime(one, other)
  }
}

/** True if two entries have the same time, as exactly as Node sets it. */
export function isSameTime(one: LinkEntry, other: LinkEntry): boolean {
  const difference = toNanoseconds(one.mtime) - toNanoseconds(other.mtime)
  return -TIME_TOLERANCE_NANOS < difference && difference < TIME_TOLERANCE_NANOS
}

function hasSameBytes(one: LinkEntry, other: LinkEntry): boolean {
  const [left, right] = [new ChunkReader(one.content()), new ChunkReader(other.content())]
  try {
    for (;;) {
      const length = Math.min(left.fill(), right.fill())
      if (length === 0) return left.fill() === right.fill()
      if (!left.take(length).equals(right.take(length))) return false
    }
  } finally {
    left.close()
    right.close()
  }
}

/** Reads chunks of any size in pieces of any size. */
class ChunkReader {
  readonly #chunks: Iterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)

  constructor(chunks: Iterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.iterator]()
  }

  /** Reads the next chunk if none is left, and returns how many bytes are available; 0 at the end. */
  fill(): number {
    while (this.#rest.length === 0) {
      const next = this.#chunks.next()
      if (next.done === true) return 0
      this.#rest = next.value
    }
    return this.#rest.length
  }

  take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return Buffer.from(taken.buffer, taken.byteOffset, taken.length)
  }

  /** Closes the source, also before its end. */
  close(): void {
    this.#chunks.return?.()
  }
}
