import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** Minimum size of deduplicated content; the lookup costs more than smaller content. */
const MIN_DEDUPLICATED_BYTES = 4096
const NO_HASH = new Uint8Array(0)

/** Checksum of content, and the hash that finds it; empty if it is too small to be looked for. */
export interface ChunkHashes {
  readonly crc: number
  readonly hash: Uint8Array
}

export function hashChunk(bytes: Uint8Array): ChunkHashes {
  return { crc: crc32(bytes), hash: computeBlobHash(bytes) }
}

/** Returns the hash that finds a blob with these bytes; empty if they are too small to be looked for. */
export function computeBlobHash(bytes: Uint8Array): Uint8Array {
  return bytes.length < MIN_DEDUPLICATED_BYTES ? NO_HASH : hash('sha256', bytes, 'buffer')
}
