import { crc32 } from 'node:zlib'
import { VfsError } from '../../vfs/index.ts'
import { chain, type MaybePromise } from '../maybe-promise.ts'
import type { BlobRef } from '../tree/tree-values.ts'

/**
 * First id of blobs whose row is a delta: bytes that replace a part of another blob. A program that changes a few
 * kilobytes of a chunk, such as a database with its pages, then stores these and not the whole chunk. SPEC.md describes
 * such rows.
 */
export const FIRST_DELTA_BLOB: number = 2 ** 52

const ID_BYTES = 8
const NUMBER_BYTES = 4
const CRC_BYTES = 4
const BASE_BYTES = ID_BYTES + NUMBER_BYTES + CRC_BYTES
const HEAD_BYTES = BASE_BYTES + NUMBER_BYTES
const PIECE_HEAD_BYTES = 2 * NUMBER_BYTES

/** Bytes from an offset on. */
export interface DeltaPiece {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** Content as a difference from that of another blob. */
export interface Delta {
  /** The other blob, which has its content itself or in a segment: a read never follows two deltas. */
  readonly base: BlobRef
  /** Size of the content. Zeros follow a base that is shorter. */
  readonly size: number
  /** In the order of their offsets. None overlaps or touches another. */
  readonly pieces: readonly DeltaPiece[]
}

/** Reports whether the row of a blob is a delta. */
export function isDeltaBlob(id: number): boolean {
  return id >= FIRST_DELTA_BLOB
}

/** Returns the size of the row that stores a delta. */
export function measureDelta({ pieces }: Delta): number {
  return pieces.reduce((sum, { bytes }) => sum + PIECE_HEAD_BYTES + bytes.length, HEAD_BYTES + CRC_BYTES)
}

/** Encodes the row of a blob. */
export function encodeDelta(id: number, { base, size, pieces }: Delta): { row: Uint8Array; crc: number } {
  const row = Buffer.allocUnsafeSlow(measureDelta({ base, size, pieces }))
  row.writeBigUInt64LE(BigInt(base.blob))
  row.writeUInt32LE(base.size, ID_BYTES)
  row.writeUInt32LE(base.crc, ID_BYTES + NUMBER_BYTES)
  row.writeUInt32LE(size, BASE_BYTES)
  let position = HEAD_BYTES
  for (const { offset, bytes } of pieces) {
    row.writeUInt32LE(offset, position)
    row.writeUInt32LE(bytes.length, position + NUMBER_BYTES)
    row.set(bytes, position + PIECE_HEAD_BYTES)
    position += PIECE_HEAD_BYTES + bytes.length
  }
  const crc = computeRowCrc(id, row.subarray(0, position))
  row.writeUInt32LE(crc, position)
  return { row, crc }
}

/** Decodes the row of a blob. Throws EIO if it is damaged. */
export function decodeDelta(id: number, bytes: Uint8Array): Delta {
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const end = row.length - CRC_BYTES
  if (end < HEAD_BYTES || computeRowCrc(id, row.subarray(0, end)) !== row.readUInt32LE(end))
    throw createDamageError(id, `the row of blob ${id} is damaged`)
  const pieces: DeltaPiece[] = []
  for (let position = HEAD_BYTES; position < end; ) {
    const start = position + PIECE_HEAD_BYTES
    const length = row.readUInt32LE(position + NUMBER_BYTES)
    pieces.push({ offset: row.readUInt32LE(position), bytes: row.subarray(start, start + length) })
    position = start + length
  }
  const [blob, size, crc] = [
    row.readBigUInt64LE(),
    row.readUInt32LE(ID_BYTES),
    row.readUInt32LE(ID_BYTES + 4),
  ]
  return { base: { blob: Number(blob), size, crc }, size: row.readUInt32LE(BASE_BYTES), pieces }
}

/** Computes a checksum that a row with the id of another blob does not have. */
function computeRowCrc(id: number, row: Uint8Array): number {
  return crc32(row, id % 2 ** 32)
}

/** Reads bytes of a blob; undefined if it is missing. */
type ReadBlob = (id: number) => MaybePromise<Uint8Array | undefined>

/**
 * Reads the content of a delta and verifies it; undefined if its row or its base is missing. EIO if one of them is
 * damaged.
 */
export function readDeltaBlob(
  id: number,
  readRow: ReadBlob,
  readContent: ReadBlob,
): MaybePromise<Uint8Array | undefined> {
  return chain(readRow(id), (row) => {
    if (row === undefined) return undefined
    const delta = decodeDelta(id, row)
    const { blob, size, crc } = delta.base
    return chain(readContent(blob), (base) => {
      if (base === undefined) return undefined
      if (base.length === size && crc32(base) === crc) return applyDelta(base, delta)
      throw createDamageError(id, `blob ${blob}, on which blob ${id} is based, is damaged`)
    })
  })
}

/** Returns the content that a delta makes of its base. */
export function applyDelta(base: Uint8Array, { size, pieces }: Delta): Uint8Array {
  const content = Buffer.allocUnsafeSlow(size)
  content.set(base)
  content.fill(0, base.length)
  for (const { offset, bytes } of pieces) content.set(bytes, offset)
  return content
}

function createDamageError(id: number, detail: string): VfsError {
  return new VfsError('EIO', `blob ${id}`, { op: 'read', detail })
}

/** Adds bytes to pieces, in place of those that they cover, and joins what touches. */
export function addPiece(pieces: readonly DeltaPiece[], added: DeltaPiece): DeltaPiece[] {
  const before = pieces.filter((piece) => getEnd(piece) < added.offset)
  const after = pieces.filter((piece) => piece.offset > getEnd(added))
  const joined = pieces.slice(before.length, pieces.length - after.length)
  return [...before, joinPieces(joined, added), ...after]
}

/** Joins pieces with one that touches each of them, and whose bytes win. */
function joinPieces(pieces: readonly DeltaPiece[], added: DeltaPiece): DeltaPiece {
  if (pieces.length === 0) return added
  const offset = Math.min(added.offset, ...pieces.map((piece) => piece.offset))
  const end = Math.max(getEnd(added), ...pieces.map(getEnd))
  const bytes = new Uint8Array(end - offset)
  for (const piece of [...pieces, added]) bytes.set(piece.bytes, piece.offset - offset)
  return { offset, bytes }
}

function getEnd({ offset, bytes }: DeltaPiece): number {
  return offset + bytes.length
}
