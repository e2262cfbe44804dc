const BLOCK_BYTES = 64
/** Bytes at the end of the last block that hold the length of the content. */
const LENGTH_BYTES = 8
const WORDS = 64

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, section 4.2.2). */
const ROUND_CONSTANTS = Uint32Array.from(listPrimes(WORDS), (prime) => fractionalBits(Math.cbrt(prime)))
/** The same of the square roots of the first eight primes: the state of an empty hash. */
const INITIAL_STATE = Uint32Array.from(listPrimes(8), (prime) => fractionalBits(Math.sqrt(prime)))

/** SHA-256 for runtimes without a synchronous one of their own. Several times slower than a native one. */
export class Sha256 {
  readonly #state = new Uint32Array(INITIAL_STATE)
  readonly #schedule = new Uint32Array(WORDS)
  readonly #block = new Uint8Array(BLOCK_BYTES)
  readonly #view = new DataView(this.#block.buffer)
  #used = 0
  #length = 0

  /** Adds bytes. */
  update(bytes: Uint8Array): void {
    this.#length += bytes.length
    for (let at = 0; at < bytes.length; ) {
      const count = Math.min(BLOCK_BYTES - this.#used, bytes.length - at)
      this.#block.set(bytes.subarray(at, at + count), this.#used)
      this.#used += count
      at += count
      if (this.#used === BLOCK_BYTES) this.#compress()
    }
  }

  /** Ends the hash and returns it in hex. */
  digest(): string {
    const bits = BigInt(this.#length) * 8n
    this.update(Uint8Array.of(0x80))
    while (this.#used !== BLOCK_BYTES - LENGTH_BYTES) this.update(Uint8Array.of(0))
    this.#view.setBigUint64(BLOCK_BYTES - LENGTH_BYTES, bits)
    this.#compress()
    return Array.from(this.#state, (word) => word.toString(16).padStart(8, '0')).join('')
  }

  /** Mixes the full block into the state (FIPS 180-4, section 6.2.2). */
  #compress(): void {
    this.#used = 0
    this.#expand()
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = this.#state
    for (let at = 0; at < WORDS; at++) {
      const sum = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      const choice = (e & f) ^ (~e & g)
      const first = h + sum + choice + (ROUND_CONSTANTS[at] ?? 0) + (this.#schedule[at] ?? 0)
      const majority = (a & b) ^ (a & c) ^ (b & c)
      const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0]
    }
    for (const [at, word] of [a, b, c, d, e, f, g, h].entries())
      this.#state[at] = (this.#state[at] ?? 0) + word
  }

  /** Makes the 64 words of the schedule from the 16 of the block. */
  #expand(): void {
    const words = this.#schedule
    for (let at = 0; at < 16; at++) words[at] = this.#view.getUint32(at * 4)
    for (let at = 16; at < WORDS; at++) {
      const [early = 0, late = 0] = [words[at - 15], words[at - 2]]
      const small = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
      const large = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
      words[at] = (words[at - 16] ?? 0) + small + (words[at - 7] ?? 0) + large
    }
  }
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

function fractionalBits(root: number): number {
  return (root % 1) * 2 ** 32
}

function listPrimes(count: number): number[] {
  const primes: number[] = []
  for (let candidate = 2; primes.length < count; candidate++)
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate)
  return primes
}
