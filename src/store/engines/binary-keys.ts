import type { JournalRow } from '../engine.ts'

/** Encodes a number in eight big-endian bytes, so that bytes sort like numbers. Infinity sorts last. */
export function encodeIdKey(id: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeBigUInt64BE(BigInt(Math.min(id, Number.MAX_SAFE_INTEGER)))
  return key
}

export function encodeJournalKey({ vault, seq }: Pick<JournalRow, 'vault' | 'seq'>): Buffer {
  return Buffer.concat([encodeIdKey(vault), encodeIdKey(seq)])
}

/** Decodes the number at an offset of a key or a value. */
export function decodeNumberAt(bytes: Uint8Array, offset: number): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(offset))
}
