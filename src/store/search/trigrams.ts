/** Number of possible trigrams of three bytes. */
export const TRIGRAM_COUNT: number = 1 << 24

const NEWLINE = 0x0a

/** Normalisation of the index: ASCII letters in lower case, other bytes unchanged. */
export const lowerCaseBytes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
)

/**
 * Returns the distinct trigrams of some bytes, in no order. None contains a newline, as no match spans lines. For
 * short texts; `BlockBuilder` does the same for whole files.
 */
export function extractTrigrams(bytes: Uint8Array): number[] {
  const found = new Set<number>()
  let trigram = 0
  let length = 0
  for (const raw of bytes) {
    const byte = lowerCaseBytes[raw] ?? raw
    length = byte === NEWLINE ? 0 : length + 1
    trigram = ((trigram << 8) | byte) & (TRIGRAM_COUNT - 1)
    if (length >= 3) found.add(trigram)
  }
  return [...found]
}

/** Returns the bucket of a trigram, of 2^bits evenly filled ones. */
export function toBucket(trigram: number, bits: number): number {
  return bits === 0 ? 0 : Math.imul(trigram, 0x9e3779b1) >>> (32 - bits)
}
