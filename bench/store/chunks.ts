import { randomBytes } from 'node:crypto'

const STAMPED_EVERY = 4096

/** Chunks of which no two have a block in common: a store that keeps equal blocks once must keep all of these. */
export function* generateDistinctChunks(totalSize: number, chunkSize: number): Generator<Uint8Array> {
  const noise = randomBytes(chunkSize)
  for (let sent = 0; sent < totalSize; sent += chunkSize) {
    const chunk = Buffer.from(noise)
    for (let at = 0; at < chunkSize; at += STAMPED_EVERY) chunk.writeDoubleLE(sent + at, at)
    yield chunk
  }
}
