import { encodeUtf8, indexOfByte } from './bytes.ts'

/** Bytes to search for, with the rarest one marked. */
export interface Needle {
  readonly bytes: Uint8Array
  /** Index in `bytes` of the rarest byte. */
  readonly rarest: number
}

/** Characters of text and code, the most frequent first. Any other byte is rarer. */
const BYTES_BY_FREQUENCY = encodeUtf8(' etaoinsrlhdcumpfgywbvk.,/()"\'-_=:;01TSAICEMPDRLNBOFHx2jzqGW\n\t')

/** Returns the UTF-8 bytes of a text, or null if it is empty or has more than one byte representation. */
export function createNeedle(text: string): Needle | null {
  // Invalid UTF-8 decodes to U+FFFD, so that character may stand for any invalid bytes.
  if (text === '' || !text.isWellFormed() || text.includes('\ufffd')) return null
  const bytes = encodeUtf8(text)
  const rarity = (byte: number) => BYTES_BY_FREQUENCY.indexOf(byte) + 1 || BYTES_BY_FREQUENCY.length + 1
  const rarest = bytes.reduce((best, byte, at) => (rarity(byte) > rarity(bytes[best] ?? 0) ? at : best), 0)
  return { bytes, rarest }
}

/**
 * Reports whether the bytes contain a needle. The runtime finds a single byte far faster than several, so this looks
 * for the rarest byte and compares the others only there.
 */
export function contains(haystack: Uint8Array, { bytes, rarest }: Needle): boolean {
  const wanted = bytes[rarest]
  if (wanted === undefined) return false
  const last = haystack.length - bytes.length + rarest
  for (
    let at = indexOfByte(haystack, wanted, rarest);
    at !== -1 && at <= last;
    at = indexOfByte(haystack, wanted, at + 1)
  ) {
    if (matchesAt(haystack, bytes, at - rarest)) return true
  }
  return false
}

function matchesAt(haystack: Uint8Array, needle: Uint8Array, start: number): boolean {
  for (let at = 0; at < needle.length; at++) if (haystack[start + at] !== needle[at]) return false
  return true
}
