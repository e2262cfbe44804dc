import { type Content, contentChunks, ownBytes } from '../../vfs/index.ts'
import type { Files } from '../files/files.ts'
import type { FileOperation, StoredContent } from '../files/operation.ts'
import type { BlobRef } from '../tree/records.ts'
import type { Blobs } from './blobs.ts'

/** Files up to this size live in their inode's record. */
const INLINE_BYTES = 256
/** A partial change rewrites the chunks it touches and nothing else. */
const CHUNK_BYTES = 32 * 1024

/** Content in hand, as the store refers to it. */
export function storeBytes(bytes: Uint8Array, blobs: Blobs): StoredContent {
  if (bytes.length <= INLINE_BYTES)
    return { size: bytes.length, inline: Buffer.from(bytes).toString('base64') }
  return { size: bytes.length, chunks: chunksOf(bytes).map((chunk) => blobs.put(chunk)) }
}

/** Any content, as the store refers to it: at once if it is in hand; a stream is cut into chunks as it comes. */
export function storeContent(content: Content, blobs: Blobs): StoredContent | Promise<StoredContent> {
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) return storeStream(content, blobs)
  return storeBytes(ownBytes(content), blobs)
}

async function storeStream(
  content: AsyncIterable<Uint8Array | string>,
  blobs: Blobs,
): Promise<StoredContent> {
  const chunks: BlobRef[] = []
  let rest = new Uint8Array(0)
  let size = 0
  for await (const part of contentChunks(content)) {
    size += part.length
    const joined = Buffer.concat([rest, part])
    const whole = joined.length - (joined.length % CHUNK_BYTES)
    for (const chunk of chunksOf(joined.subarray(0, whole))) chunks.push(blobs.put(chunk))
    rest = joined.subarray(whole)
  }
  if (chunks.length === 0) return storeBytes(rest, blobs)
  if (rest.length > 0) chunks.push(blobs.put(rest))
  return { size, chunks }
}

/** A file's content as another file can refer to it: the bytes stay where they are. */
export function storedContentOf(files: Files, number: number): StoredContent {
  const { content, size } = files.inode(number)
  if (content instanceof Uint8Array) return { size, inline: Buffer.from(content).toString('base64') }
  if (content !== 'chunks') return { size, chunks: [content] }
  const count = Math.ceil(size / CHUNK_BYTES)
  const refs = Array.from({ length: count }, (_, index) => files.chunk(number, index))
  return { size, chunks: refs.flatMap((ref) => ref ?? []) }
}

/** The bytes of a file from a position on, chunk by chunk. */
export function* readContent(
  files: Files,
  number: number,
  blobs: Blobs,
  start = 0,
  length: number = Number.POSITIVE_INFINITY,
): Generator<Uint8Array> {
  const { content, size } = files.inode(number)
  const end = Math.min(size, start + length)
  if (start >= end) return
  if (content instanceof Uint8Array) yield content.subarray(start, end)
  else if (content !== 'chunks') yield blobs.get(content).subarray(start, end)
  else {
    for (let at = start; at < end; ) {
      const index = Math.floor(at / CHUNK_BYTES)
      const from = at - index * CHUNK_BYTES
      const ref = files.chunk(number, index)
      const chunk = ref === undefined ? new Uint8Array(CHUNK_BYTES) : blobs.get(ref)
      yield chunk.subarray(from, end - index * CHUNK_BYTES)
      at = (index + 1) * CHUNK_BYTES
    }
  }
}

/** The operation that adds bytes to the end of a file: only its last chunk is written again. */
export function appendBytes(files: Files, blobs: Blobs, path: string, more: Uint8Array): FileOperation {
  const number = files.find(files.resolve(path, true, 'append'))
  if (number === undefined) return { op: 'write', path, content: storeBytes(more, blobs), parents: true }
  const { type, size, content } = files.inode(number)
  const total = size + more.length
  const isSmall = total <= INLINE_BYTES || content instanceof Uint8Array
  const kept = isSmall ? 0 : Math.floor(size / CHUNK_BYTES)
  const start = kept * CHUNK_BYTES
  const tail = type === 'directory' ? [] : [...readContent(files, number, blobs, start)]
  const bytes = Buffer.concat([...tail, more])
  if (isSmall) return { op: 'write', path, content: storeBytes(bytes, blobs), parents: true }
  return { op: 'extend', path, size: total, kept, chunks: chunksOf(bytes).map((chunk) => blobs.put(chunk)) }
}

function chunksOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / CHUNK_BYTES)
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  )
}
