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
 * A request from the kernel: a header and fields, read by offset.
 * It is a view of a buffer that the next request overwrites. Reading past the end throws EINVAL.
 */
export class FuseRequest {
  readonly #bytes: Buffer
  readonly #end: number
  readonly opcode: number
  /** Inode number of its subject, in the kernel's numbering. */
  readonly node: number

  private constructor(bytes: Buffer, end: number) {
    this.#bytes = bytes
    this.#end = end
    this.opcode = bytes.readUInt32LE(OPCODE)
    this.node = bytes.readUInt32LE(NODE) + bytes.readUInt32LE(NODE + 4) * HIGH
  }

  /** Parses the request at the start of a buffer; undefined for a malformed one, which cannot be answered. */
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

  /** Id, unique among the pending requests. */
  get unique(): number {
    return this.#bytes.readUInt32LE(UNIQUE) + this.#bytes.readUInt32LE(UNIQUE + 4) * HIGH
  }

  /** Copies the id into a reply. */
  copyUnique(target: Buffer, at: number): void {
    this.#bytes.copy(target, at, UNIQUE, UNIQUE + 8)
  }

  u32(offset: number): number {
    return this.#bytes.readUInt32LE(this.#at(offset, 4))
  }

  /** Exact below 2^53, which exceeds every inode number and size. */
  u64(offset: number): number {
    const at = this.#at(offset, 8)
    return this.#bytes.readUInt32LE(at) + this.#bytes.readUInt32LE(at + 4) * HIGH
  }

  i64(offset: number): number {
    const at = this.#at(offset, 8)
    return this.#bytes.readUInt32LE(at) + this.#bytes.readInt32LE(at + 4) * HIGH
  }

  /** Reads NUL-terminated text at an offset. EILSEQ if it is not UTF-8, EINVAL if it is not terminated. */
  text(offset: number): string {
    const { start, end } = this.#textRange(offset)
    const text = this.#bytes.toString('utf8', start, end)
    // Decoding replaces invalid bytes with U+FFFD, but the text may contain that character itself.
    if (text.includes('\uFFFD') && !Buffer.from(text).equals(this.#bytes.subarray(start, end)))
      throw new WireError('EILSEQ')
    return text
  }

  /** Returns the offset after the text at an offset. */
  getTextEnd(offset: number): number {
    return this.#textRange(offset).end + 1 - REQUEST_HEADER_BYTES
  }

  /** Returns a view of bytes. EINVAL if the request is shorter. */
  data(offset: number, length: number): Buffer {
    const at = this.#at(offset, length)
    return this.#bytes.subarray(at, at + length)
  }

  #textRange(offset: number): { readonly start: number; readonly end: number } {
    const start = this.#at(offset, 1)
    const end = this.#bytes.indexOf(0, start)
    if (end === -1 || end >= this.#end) throw createRequestError('a text field is not terminated')
    return { start, end }
  }

  #at(offset: number, length: number): number {
    const at = REQUEST_HEADER_BYTES + offset
    if (at + length > this.#end) throw createRequestError('the request is too short')
    return at
  }
}

function createRequestError(detail: string): VfsError {
  return new VfsError('EINVAL', '/', { op: 'request', detail })
}
