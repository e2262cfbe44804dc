import { VfsError } from '../../vfs/index.ts'
import { WireError } from './errno.ts'

const REQUEST_HEADER_BYTES = 40
const OPCODE = 4
const UNIQUE = 8
const NODE = 16
const UID = 24
const GID = 28
const EXTENSIONS = 36
const EXTENSION_UNIT = 8
const HIGH = 2 ** 32

/**
 * One request as the kernel sends it: a header, and fields that are read by their place behind it.
 * It is a view of a buffer that the next request overwrites. A field behind the end is EINVAL, never a crash.
 */
export class FuseRequest {
  readonly #bytes: Buffer
  readonly #end: number
  readonly opcode: number
  /** The inode it is about, in the kernel's numbering. */
  readonly node: number

  private constructor(bytes: Buffer, end: number) {
    this.#bytes = bytes
    this.#end = end
    this.opcode = bytes.readUInt32LE(OPCODE)
    this.node = bytes.readUInt32LE(NODE) + bytes.readUInt32LE(NODE + 4) * HIGH
  }

  /** The request in a buffer's first bytes; undefined for what is none, and cannot even be answered. */
  static parse(bytes: Buffer): FuseRequest | undefined {
    if (bytes.length < REQUEST_HEADER_BYTES) return undefined
    const length = bytes.readUInt32LE(0)
    const end = length - bytes.readUInt16LE(EXTENSIONS) * EXTENSION_UNIT
    if (length > bytes.length || end < REQUEST_HEADER_BYTES) return undefined
    return new FuseRequest(bytes, end)
  }

  get uid(): number {
    return this.#bytes.readUInt32LE(UID)
  }

  get gid(): number {
    return this.#bytes.readUInt32LE(GID)
  }

  /** What tells it from all others that wait for an answer. */
  get unique(): number {
    return this.#bytes.readUInt32LE(UNIQUE) + this.#bytes.readUInt32LE(UNIQUE + 4) * HIGH
  }

  /** Copies what the answer has to carry to be told from others. */
  copyUnique(target: Buffer, at: number): void {
    this.#bytes.copy(target, at, UNIQUE, UNIQUE + 8)
  }

  u32(offset: number): number {
    return this.#bytes.readUInt32LE(this.#at(offset, 4))
  }

  /** Exact below 2^53, which is beyond every inode and every size. */
  u64(offset: number): number {
    const at = this.#at(offset, 8)
    return this.#bytes.readUInt32LE(at) + this.#bytes.readUInt32LE(at + 4) * HIGH
  }

  i64(offset: number): number {
    const at = this.#at(offset, 8)
    return this.#bytes.readUInt32LE(at) + this.#bytes.readInt32LE(at + 4) * HIGH
  }

  /** The NUL-terminated text from an offset on. EILSEQ for what is not UTF-8, EINVAL without an end. */
  text(offset: number): string {
    const { start, end } = this.#textRange(offset)
    const text = this.#bytes.toString('utf8', start, end)
    // The replacement character is what every byte that is no UTF-8 becomes, and may be meant.
    if (text.includes('\uFFFD') && !Buffer.from(text).equals(this.#bytes.subarray(start, end)))
      throw new WireError('EILSEQ')
    return text
  }

  /** Where the text after the one at an offset begins. */
  getTextEnd(offset: number): number {
    return this.#textRange(offset).end + 1 - REQUEST_HEADER_BYTES
  }

  /** A view of bytes. EINVAL if there are not so many. */
  data(offset: number, length: number): Buffer {
    const at = this.#at(offset, length)
    return this.#bytes.subarray(at, at + length)
  }

  #textRange(offset: number): { readonly start: number; readonly end: number } {
    const start = this.#at(offset, 1)
    const end = this.#bytes.indexOf(0, start)
    if (end === -1 || end >= this.#end) throw createRequestError('a text has no end')
    return { start, end }
  }

  #at(offset: number, length: number): number {
    const at = REQUEST_HEADER_BYTES + offset
    if (at + length > this.#end) throw createRequestError('it is too short')
    return at
  }
}

function createRequestError(detail: string): VfsError {
  return new VfsError('EINVAL', '/', { op: 'request', detail })
}
