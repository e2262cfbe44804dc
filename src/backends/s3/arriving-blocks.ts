/** Blocks of one size that a single response brings one after the other. Each resolves once its bytes are here. */
export class ArrivingBlocks {
  readonly blocks: readonly Promise<Uint8Array | undefined>[]
  readonly #settlers: readonly PromiseWithResolvers<Uint8Array | undefined>[]
  readonly #blockBytes: number

  constructor(count: number, blockBytes: number) {
    this.#blockBytes = blockBytes
    this.#settlers = Array.from({ length: count }, () => Promise.withResolvers<Uint8Array | undefined>())
    this.blocks = this.#settlers.map(({ promise }) => promise)
    // A failure shows when a block is read.
    for (const block of this.blocks) block.catch(() => {})
  }

  /** Cuts a stream into the blocks. Behind its end they are shorter, or empty. Throws if the stream fails. */
  async fill(bytes: AsyncIterable<Uint8Array>): Promise<void> {
    let block = Buffer.allocUnsafe(this.#blockBytes)
    let [number, filled] = [0, 0]
    for await (const chunk of bytes) {
      for (let done = 0; done < chunk.length; ) {
        const piece = chunk.subarray(done, done + block.length - filled)
        block.set(piece, filled)
        filled += piece.length
        done += piece.length
        if (filled < block.length) continue
        this.#settlers[number++]?.resolve(block)
        block = Buffer.allocUnsafe(this.#blockBytes)
        filled = 0
      }
    }
    for (const [index, settler] of this.#settlers.entries())
      if (index >= number) settler.resolve(index === number ? block.subarray(0, filled) : new Uint8Array(0))
  }

  /** Makes every block undefined. */
  giveUp(): void {
    for (const { resolve } of this.#settlers) resolve(undefined)
  }

  /** Fails the blocks that are not here. */
  fail(error: unknown): void {
    for (const { reject } of this.#settlers) reject(error)
  }
}
