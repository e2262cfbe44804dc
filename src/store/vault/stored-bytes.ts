import type { StoredContent } from '../files/operation.ts'
import { CHUNK_BYTES } from '../tree/records.ts'
import type { Blobs } from './blobs.ts'
import { chunkBytes } from './content.ts'

/** How many pieces stored content has. */
export function pieceCount({ inline, chunks = [] }: StoredContent): number {
  return inline === undefined ? chunks.length : 1
}

/** One piece of stored content; they are read one by one, as a large file does not fit in memory. */
export function pieceOf(
  { size, inline, chunks = [] }: StoredContent,
  index: number,
  blobs: Blobs,
): Uint8Array {
  if (inline !== undefined) return new Uint8Array(Buffer.from(inline, 'base64'))
  const length = Math.min(CHUNK_BYTES, size - index * CHUNK_BYTES)
  return chunkBytes(chunks[index], length, blobs).subarray(0, length)
}
