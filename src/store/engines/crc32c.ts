/** Castagnoli polynomial, reversed. */
const POLYNOMIAL = 0x82f63b78
const MASK_DELTA = 0xa282ead8

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
  return value
})

/** Computes the checksum of LevelDB's records and blocks: masked CRC-32C. `node:zlib` has another polynomial. */
export function computeMaskedCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  const value = (crc ^ 0xffffffff) >>> 0
  return (((value >>> 15) | (value << 17)) + MASK_DELTA) >>> 0
}
