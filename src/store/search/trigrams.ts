/** How many trigrams there are: three bytes each. */
export const TRIGRAM_COUNT: number = 1 << 24

const NEWLINE = 0x0a

/** Bytes as the index sees them: ASCII letters in lower case, everything else as it is. */
export const lowerCaseBytes: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
)

/**
 * The distinct trigrams of some bytes, in no order. None has a newline in it, for no match goes beyond a line.
 * For short texts; a `BlockBuilder` does the same for whole files.
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

/** Which of 2^bits buckets a trigram is in. Spread evenly, so that buckets are of one size. */
export function toBucket(trigram: number, bits: number): number {
  return bits === 0 ? 0 : Math.imul(trigram, 0x9e3779b1) >>> (32 - bits)
}
