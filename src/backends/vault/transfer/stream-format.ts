import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { VfsError } from '../../../vfs/index.ts'

/** The first bytes of a stream. The newline reveals a transfer that translated line ends. */
export const MAGIC: Uint8Array = Buffer.from('coppice\n')
/** The version of the format. A reader rejects unknown numbers. */
export const STREAM_FORMAT = 1

/** The types of frames, by their first byte. */
export const frames = { header: 0x48, blob: 0x42, operations: 0x4f, end: 0x45 } as const

const HEAD_BYTES = 5
const CRC_BYTES = 4
/** Limit of a payload, so that a reader never trusts a length before it is checked. */
const MAX_PAYLOAD_BYTES = 4 * 1024 * 1024

export interface Frame {
  readonly type: number
  readonly payload: Buffer
}

/**
 * Encodes frames: type, length, payload, CRC-32. Each CRC continues the one before, so a missing, repeated or misplaced
 * frame is detected too.
 */
export class FrameWriter {
  readonly #hash = createHash('sha256').update(MAGIC)
  #crc = crc32(MAGIC)

  /** The SHA-256 of everything so far, in hex. */
  get digest(): string {
    return this.#hash.copy().digest('hex')
  }

  encodeFrame(type: number, payload: Uint8Array): Uint8Array {
    if (payload.length > MAX_PAYLOAD_BYTES) throw createTooLargeError(payload.length)
    const bytes = Buffer.allocUnsafe(HEAD_BYTES + payload.length + CRC_BYTES)
    bytes.writeUInt8(type, 0)
    bytes.writeUInt32LE(payload.length, 1)
    bytes.set(payload, HEAD_BYTES)
    this.#crc = crc32(bytes.subarray(0, HEAD_BYTES + payload.length), this.#crc)
    bytes.writeUInt32LE(this.#crc, HEAD_BYTES + payload.length)
    this.#hash.update(bytes)
    return bytes
  }
}

/** Decodes a stream into frames and holds at most one in memory. EINVAL for other input, EIO for a damaged stream. */
export class FrameReader {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #hash = createHash('sha256')
  #crc = 0
  #waiting: Buffer = Buffer.alloc(0)
  #offset = 0

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#source = stream[Symbol.asyncIterator]()
  }

  /** The SHA-256 of everything before the last frame, in hex. Set when that frame is read. */
  digest = ''

  async start(): Promise<void> {
    const magic = await this.#readBytes(MAGIC.length)
    if (!magic.equals(MAGIC)) throw createStreamError('EINVAL', 'the input is not a stream of `send`')
    this.#hash.update(magic)
    this.#crc = crc32(magic)
  }

  async next(): Promise<Frame> {
    const head = await this.#readBytes(HEAD_BYTES)
    if (head.readUInt8(0) === frames.end) this.digest = this.#hash.copy().digest('hex')
    const length = head.readUInt32LE(1)
    if (length > MAX_PAYLOAD_BYTES) throw this.createDamageError('a frame is too long')
    const payload = await this.#readBytes(length)
    const checksum = await this.#readBytes(CRC_BYTES)
    this.#crc = crc32(payload, crc32(head, this.#crc))
    if (checksum.readUInt32LE(0) !== this.#crc) throw this.createDamageError('a checksum does not match')
    for (const part of [head, payload, checksum]) this.#hash.update(part)
    return { type: head.readUInt8(0), payload }
  }

  /** Throws EIO if more bytes follow. */
  async assertEnd(): Promise<void> {
    if (this.#waiting.length > 0 || (await this.#readMore()))
      throw this.createDamageError('bytes follow its end')
  }

  /** Releases the source. */
  async close(): Promise<void> {
    await this.#source.return?.()
  }

  createDamageError(problem: string): VfsError {
    return createStreamError(
      'EIO',
      `the stream is damaged near byte ${this.#offset}: ${problem}; send it again`,
    )
  }

  async #readBytes(count: number): Promise<Buffer> {
    while (this.#waiting.length < count) {
      if (!(await this.#readMore())) throw this.createDamageError('it ends too early')
    }
    const bytes = this.#waiting.subarray(0, count)
    this.#waiting = this.#waiting.subarray(count)
    this.#offset += count
    return bytes
  }

  async #readMore(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#source.next()
      if (done) return false
      if (value.length === 0) continue
      this.#waiting = this.#waiting.length === 0 ? Buffer.from(value) : Buffer.concat([this.#waiting, value])
      return true
    }
  }
}

function createTooLargeError(bytes: number): VfsError {
  const detail = `an operation has ${bytes} bytes, the limit is ${MAX_PAYLOAD_BYTES}; shorten the metadata`
  return new VfsError('ENOTSUP', '/', { op: 'send', detail })
}

export function createStreamError(code: 'EINVAL' | 'EIO' | 'ENOTSUP', detail: string): VfsError {
  return new VfsError(code, '/', { op: 'receive', detail })
}
