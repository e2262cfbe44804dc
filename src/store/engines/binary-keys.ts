import type { JournalRow } from '../engine.ts'

/** Eight bytes, big-endian, so that the order of bytes is the order of numbers. Infinity is behind every other. */
export function encodeIdKey(id: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeBigUInt64BE(BigInt(Math.min(id, Number.MAX_SAFE_INTEGER)))
  return key
}

export function encodeJournalKey({ vault, seq }: Pick<JournalRow, 'vault' | 'seq'>): Buffer {
  return Buffer.concat([encodeIdKey(vault), encodeIdKey(seq)])
}

/** The number that eight bytes of a key or a value stand for. */
export function decodeNumberAt(bytes: Uint8Array, offset: number): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(offset))
}
