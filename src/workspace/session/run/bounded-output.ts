/** Keeps the beginning of a stream, up to a limit. */
export class BoundedOutput {
  readonly #limit: number
  readonly #chunks: Uint8Array[] = []
  #size = 0
  #isTruncated = false

  constructor(limit: number) {
    this.#limit = limit
  }

  get isTruncated(): boolean {
    return this.#isTruncated
  }

  add(chunk: Uint8Array): void {
    const room = this.#limit - this.#size
    if (chunk.length > room) this.#isTruncated = true
    if (room <= 0) return
    const kept = chunk.subarray(0, room)
    this.#chunks.push(kept)
    this.#size += kept.length
  }

  toBytes(): Uint8Array {
    return Buffer.concat(this.#chunks)
  }
}
