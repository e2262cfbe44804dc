import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { VfsError } from '../../vfs/index.ts'
import { FIRST_DELTA_BLOB } from './delta-row.ts'

/**
 * First id of blobs whose row may refer to a segment: a file or object outside the engine with large content. SPEC.md
 * describes such rows. Rows of other blobs are content and nothing else, so no content can pose as a reference.
 */
export const FIRST_SEGMENT_BLOB: number = 2 ** 51

const NAME_BYTES = 16
const HASH_BYTES = 32
const CRC_BYTES = 4
/** First byte of a row: content follows, or a reference. */
const INLINE = 0
const REFERENCE = 1
const REFERENCE_BYTES = 1 + NAME_BYTES + 4 + 4

/** Position of a blob's content in a segment. */
export interface SegmentReference {
  readonly segment: string
  readonly offset: number
  readonly length: number
  /** SHA-256 by which the engine finds the blob to store equal content once; empty if it is not to be found. */
  readonly hash: Uint8Array
}

/** A decoded row: content, or where it is. */
export type SegmentRow = Uint8Array | SegmentReference

/** Size of the largest reference. A row with more bytes has the content itself. */
export const MAX_REFERENCE_BYTES: number = REFERENCE_BYTES + HASH_BYTES + CRC_BYTES

/** Reports whether the row of a blob begins with its kind, as this file encodes it. */
export function isSegmentBlob(id: number): boolean {
  return id >= FIRST_SEGMENT_BLOB && id < FIRST_DELTA_BLOB
}

export function createSegmentName(): string {
  return randomBytes(NAME_BYTES).toString('hex')
}

/** Reports whether a file or object has the name of a segment. */
export function isSegmentName(name: string): boolean {
  return /^[0-9a-f]{32}$/.test(name)
}

/** Encodes a row that has the content itself. */
export function encodeInlineRow(content: Uint8Array): Uint8Array {
  const row = new Uint8Array(1 + content.length)
  row[0] = INLINE
  row.set(content, 1)
  return row
}

/**
 * Encodes a reference, with a checksum. Without it, garbage collection would take a damaged name for that of another
 * segment, and delete the one whose content the row needs.
 */
export function encodeReference({ segment, offset, length, hash }: SegmentReference): Uint8Array {
  const row = Buffer.alloc(REFERENCE_BYTES + hash.length + CRC_BYTES)
  row[0] = REFERENCE
  row.write(segment, 1, 'hex')
  row.writeUInt32LE(offset, 1 + NAME_BYTES)
  row.writeUInt32LE(length, 1 + NAME_BYTES + 4)
  row.set(hash, REFERENCE_BYTES)
  row.writeUInt32LE(crc32(row.subarray(0, -CRC_BYTES)), row.length - CRC_BYTES)
  return row
}

/** Decodes a row. Throws EIO if it is damaged. */
export function decodeSegmentRow(id: number, bytes: Uint8Array): SegmentRow {
  if (bytes[0] === INLINE) return bytes.subarray(1)
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const hashLength = row.length - REFERENCE_BYTES - CRC_BYTES
  const isWhole = bytes[0] === REFERENCE && (hashLength === 0 || hashLength === HASH_BYTES)
  if (!isWhole || crc32(row.subarray(0, -CRC_BYTES)) !== row.readUInt32LE(row.length - CRC_BYTES))
    throw new VfsError('EIO', `blob ${id}`, { op: 'read', detail: `the row of blob ${id} is damaged` })
  return {
    segment: row.toString('hex', 1, 1 + NAME_BYTES),
    offset: row.readUInt32LE(1 + NAME_BYTES),
    length: row.readUInt32LE(1 + NAME_BYTES + 4),
    hash: row.subarray(REFERENCE_BYTES, REFERENCE_BYTES + hashLength),
  }
}
