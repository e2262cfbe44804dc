/**
 * SHA-256 of short texts. Names of processes and directories have some digits of it, so every command needs one, and
 * `node:crypto` takes five milliseconds to load. Large content and secrets go to `node:crypto`.
 */

const BLOCK_BYTES = 64
const ROUNDS = 64
/** Bytes at the end of the last block for the length of the text in bits. */
const LENGTH_BYTES = 8
const TWO_TO_32 = 2 ** 32

const primes = listPrimes(ROUNDS)
/** The first bits after the point of the cube roots, and of the square roots, of the first primes. */
const roundConstants = Int32Array.from(primes, (prime) => toFraction(Math.cbrt(prime)))
const initialState = Int32Array.from(primes.slice(0, 8), (prime) => toFraction(Math.sqrt(prime)))

let lastDigest: { readonly text: string; readonly digest: string } | undefined

/** Returns the SHA-256 of a text in hexadecimal digits. A repeated call for one text costs nothing. */
export function computeShortDigest(text: string): string {
  if (lastDigest?.text !== text) lastDigest = { text, digest: compute(text) }
  return lastDigest.digest
}

function compute(text: string): string {
  const bytes = padBlocks(Buffer.from(text))
  const state = Int32Array.from(initialState)
  const words = new Int32Array(ROUNDS)
  for (let offset = 0; offset < bytes.length; offset += BLOCK_BYTES) {
    for (let index = 0; index < 16; index++) words[index] = bytes.readInt32BE(offset + 4 * index)
    extendWords(words)
    addBlock(state, words)
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

/** Appends a one bit, zeros, and the length in bits. */
function padBlocks(text: Buffer): Buffer {
  const length = Math.ceil((text.length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES
  const padded = Buffer.alloc(length)
  text.copy(padded)
  padded[text.length] = 0x80
  padded.writeBigUInt64BE(BigInt(text.length) * 8n, length - LENGTH_BYTES)
  return padded
}

function extendWords(words: Int32Array): void {
  for (let index = 16; index < ROUNDS; index++) {
    const early = words[index - 15] ?? 0
    const late = words[index - 2] ?? 0
    const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    words[index] = (words[index - 16] ?? 0) + first + (words[index - 7] ?? 0) + second
  }
}

function addBlock(state: Int32Array, words: Int32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let round = 0; round < ROUNDS; round++) {
    const choice = (e & f) ^ (~e & g)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const fromE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const fromA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const sum = (h + fromE + choice + (roundConstants[round] ?? 0) + (words[round] ?? 0)) | 0
    ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + sum) | 0, c, b, a, (sum + fromA + majority) | 0]
  }
  for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = (state[index] ?? 0) + value
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

function listPrimes(count: number): number[] {
  const found: number[] = []
  for (let number = 2; found.length < count; number++) {
    if (found.every((prime) => number % prime !== 0)) found.push(number)
  }
  return found
}

function toFraction(root: number): number {
  return Math.floor((root - Math.floor(root)) * TWO_TO_32)
}
