import type { StoredContent } from '../files/operation.ts'
import { CHUNK_BYTES } from '../tree/tree-values.ts'
import type { BlobStore } from './blob-store.ts'
import { readChunk } from './file-content.ts'

/** Counts the pieces of stored content. */
export function countPieces({ inline, chunks = [] }: StoredContent): number {
  return inline === undefined ? chunks.length : 1
}

/** Reads one piece of stored content: a large file does not fit in memory. */
export function readPiece(
  { size, inline, chunks = [] }: StoredContent,
  index: number,
  blobs: BlobStore,
): Uint8Array {
  if (inline !== undefined) return new Uint8Array(Buffer.from(inline, 'base64'))
  const length = Math.min(CHUNK_BYTES, size - index * CHUNK_BYTES)
  return readChunk(chunks[index], length, blobs).subarray(0, length)
}
