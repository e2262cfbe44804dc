import type { FileOperation, StoredContent } from '../files/operation.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import { type ChunkHashes, hashChunk } from '../segments/hash-chunks.ts'
import { type BlobRef, CHUNK_BYTES } from '../tree/tree-values.ts'
import type { BlobStore } from './blob-store.ts'

/** Limit in bytes for content inside the inode's record. */
export const MAX_INLINE_BYTES = 256

const EMPTY = new Uint8Array(0)
const NO_HASHES: readonly ChunkHashes[] = []
/** Reference for a chunk that was never written. */
const HOLE: BlobRef = { blob: 0, size: 0, crc: 0 }

/**
 * Stores bytes and returns the reference to them.
 * @param hashes result of `hashContent`, if it is known.
 */
export function storeBytes(
  bytes: Uint8Array,
  blobs: Pick<BlobStore, 'put'>,
  hashes: readonly ChunkHashes[] = NO_HASHES,
): StoredContent {
  if (bytes.length <= MAX_INLINE_BYTES)
    return { size: bytes.length, inline: Buffer.from(bytes).toString('base64') }
  if (bytes.length <= CHUNK_BYTES) return { size: bytes.length, chunks: [blobs.put(bytes, hashes[0])] }
  const chunks = splitChunks(bytes).map((chunk, index) => blobs.put(chunk, hashes[index]))
  return { size: bytes.length, chunks }
}

/** Returns the hashes of the chunks in which bytes are stored; none for inline content. */
export function hashContent(bytes: Uint8Array): ChunkHashes[] {
  return bytes.length <= MAX_INLINE_BYTES ? [] : splitChunks(bytes).map(hashChunk)
}

/** Returns a file's content as another file can refer to it, without copying bytes. */
export function getStoredContent(files: VaultFiles, number: number): StoredContent {
  const { content, size } = files.getInode(number)
  if (content instanceof Uint8Array) return { size, inline: Buffer.from(content).toString('base64') }
  if (content !== 'chunks') return { size, chunks: [content] }
  const count = Math.ceil(size / CHUNK_BYTES)
  const refs = Array.from({ length: count }, (_, index) => files.findChunk(number, index))
  return { size, chunks: refs.map((ref) => ref ?? HOLE) }
}

/** Reads blobs; from a remote store, several of them in one trip. */
type BlobReader = Pick<BlobStore, 'get'> & Partial<Pick<BlobStore, 'readAhead'>>

/** Returns references to the stored chunks of a file from one on, up to a position in it. */
function listChunks(files: VaultFiles, number: number, first: number, end: number, limit: number): BlobRef[] {
  const count = Math.min(limit, Math.ceil(end / CHUNK_BYTES) - first)
  const refs = Array.from({ length: count }, (_, index) => files.findChunk(number, first + index))
  return refs.filter((ref) => ref !== undefined)
}

/** Yields up to `length` bytes of a file from a position on, chunk by chunk. */
export function* readContent(
  files: VaultFiles,
  number: number,
  blobs: BlobReader,
  start = 0,
  length: number = Number.POSITIVE_INFINITY,
): Generator<Uint8Array> {
  const { content, size } = files.getInode(number)
  const end = Math.min(size, start + length)
  if (start >= end) return
  if (content instanceof Uint8Array) yield content.subarray(start, end)
  else if (content !== 'chunks') yield blobs.get(content).subarray(start, end)
  else {
    for (let position = start; position < end; ) {
      const index = Math.floor(position / CHUNK_BYTES)
      const begin = index * CHUNK_BYTES
      const ref = files.findChunk(number, index)
      if (ref !== undefined) blobs.readAhead?.(ref, (limit) => listChunks(files, number, index, end, limit))
      const chunk = readChunk(ref, Math.min(CHUNK_BYTES, end - begin), blobs)
      yield chunk.subarray(position - begin, end - begin)
      position = begin + CHUNK_BYTES
    }
  }
}

/** Reads a chunk, padded with zeros to at least `length` bytes; a hole is all zeros. */
export function readChunk(
  ref: BlobRef | undefined,
  length: number,
  blobs: Pick<BlobStore, 'get'>,
): Uint8Array {
  if (ref === undefined || ref.size === 0) return new Uint8Array(length)
  const bytes = blobs.get(ref)
  if (bytes.length >= length) return bytes
  const padded = new Uint8Array(length)
  padded.set(bytes)
  return padded
}

/** Reports whether two files have the same bytes. Does not read chunks that are the same blob. */
export function isSameContent(
  old: VaultFiles,
  oldNumber: number,
  current: VaultFiles,
  newNumber: number,
  blobs: BlobStore,
): boolean {
  const { size } = old.getInode(oldNumber)
  if (size !== current.getInode(newNumber).size) return false
  for (let position = 0; position < size; position += CHUNK_BYTES) {
    const index = position / CHUNK_BYTES
    const ref = findChunkRef(old, oldNumber, index)
    if (ref !== undefined && ref.blob === findChunkRef(current, newNumber, index)?.blob) continue
    const [one = EMPTY] = readContent(old, oldNumber, blobs, position, CHUNK_BYTES)
    const [other = EMPTY] = readContent(current, newNumber, blobs, position, CHUNK_BYTES)
    if (Buffer.compare(one, other) !== 0) return false
  }
  return true
}

/** Returns the reference to a chunk of a file; undefined for a hole, and for content in the inode's record. */
export function findChunkRef(files: VaultFiles, number: number, index: number): BlobRef | undefined {
  const { content } = files.getInode(number)
  if (content === 'chunks') return files.findChunk(number, index)
  return index === 0 && !(content instanceof Uint8Array) ? content : undefined
}

/**
 * Creates the operation that appends bytes to a file, or creates it. It rewrites only the last chunk, or a small file.
 */
export function appendBytes(
  files: VaultFiles,
  blobs: BlobStore,
  path: string,
  added: Uint8Array,
): FileOperation {
  const number = files.findByPath(files.resolveLinks(path, true, 'append'))
  if (number === undefined) return { op: 'write', path, content: storeBytes(added, blobs), parents: true }
  const { type, size, content } = files.getInode(number)
  const total = size + added.length
  const isSmall = total <= MAX_INLINE_BYTES || content instanceof Uint8Array
  const kept = isSmall ? 0 : Math.floor(size / CHUNK_BYTES)
  const start = kept * CHUNK_BYTES
  const tail = type === 'directory' ? [] : [...readContent(files, number, blobs, start)]
  const bytes = Buffer.concat([...tail, added])
  if (isSmall) return { op: 'write', path, content: storeBytes(bytes, blobs), parents: true }
  return {
    op: 'extend',
    path,
    size: total,
    kept,
    chunks: splitChunks(bytes).map((chunk, index) => {
      const old = index === 0 ? findChunkRef(files, number, kept) : undefined
      const piece = { offset: size - start, bytes: chunk.subarray(size - start) }
      return blobs.putDelta(old, chunk.length, piece) ?? blobs.putUnshared(chunk)
    }),
  }
}

function splitChunks(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length > 0 && bytes.length <= CHUNK_BYTES) return [bytes]
  const count = Math.ceil(bytes.length / CHUNK_BYTES)
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  )
}
