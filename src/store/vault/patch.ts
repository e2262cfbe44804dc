import type { Files } from '../files/files.ts'
import type { InodeOperation } from '../files/operation.ts'
import { type BlobRef, CHUNK_BYTES } from '../tree/records.ts'
import type { Blobs } from './blobs.ts'
import { chunkBytes, INLINE_BYTES, readContent } from './content.ts'

type Patch = Extract<InodeOperation, { readonly op: 'patch' }>
type ChunkChange = Patch['chunks'][number]

/** An inode whose content changes, and where the journal says it is. */
export interface PatchTarget {
  readonly files: Files
  readonly blobs: Blobs
  readonly inode: number
  readonly path: string
}

/** The operation that writes bytes at a position; what lies between the old end and it is a hole. */
export function patchBytes(target: PatchTarget, position: number, bytes: Uint8Array): Patch {
  const { files, blobs, inode, path } = target
  const { size: oldSize, content } = files.inode(inode)
  const end = position + bytes.length
  const size = Math.max(oldSize, end)
  if (size <= INLINE_BYTES && content instanceof Uint8Array) {
    const whole = Buffer.alloc(size)
    whole.set(content)
    whole.set(bytes, position)
    return { op: 'patch', path, inode, size, inline: whole.toString('base64'), chunks: [] }
  }
  const first = Math.floor(position / CHUNK_BYTES)
  const chunks: ChunkChange[] = first > 0 ? outOfLine(target) : []
  for (let index = first; index * CHUNK_BYTES < end; index++) {
    const begin = index * CHUNK_BYTES
    const [from, to] = [Math.max(position, begin), Math.min(end, begin + CHUNK_BYTES)]
    const piece = bytes.subarray(from - position, to - position)
    const length = Math.min(CHUNK_BYTES, size - begin)
    chunks.push([index, blobs.put(withPiece(target, index, length, from - begin, piece))])
  }
  return { op: 'patch', path, inode, size, chunks }
}

/** The operation that gives a file another size: shorter, or longer with a hole at the end. */
export function patchSize(target: PatchTarget, size: number): Patch {
  const { files, blobs, inode, path } = target
  const { size: oldSize, content } = files.inode(inode)
  if (size <= INLINE_BYTES) {
    const [start = new Uint8Array(0)] = readContent(files, inode, blobs, 0, size)
    const whole = Buffer.alloc(size)
    whole.set(start)
    return { op: 'patch', path, inode, size, inline: whole.toString('base64'), chunks: [] }
  }
  const chunks = outOfLine(target)
  const last = Math.floor((size - 1) / CHUNK_BYTES)
  const [begin, length] = [last * CHUNK_BYTES, size - last * CHUNK_BYTES]
  // The last chunk is cut, so that nothing of it comes back when the file grows again.
  const isCut = size < oldSize && !(content instanceof Uint8Array) && length < CHUNK_BYTES
  if (isCut && hasChunk(target, last)) {
    const [kept = new Uint8Array(0)] = readContent(files, inode, blobs, begin, length)
    return { op: 'patch', path, inode, size, chunks: [...chunks, [last, blobs.put(new Uint8Array(kept))]] }
  }
  return { op: 'patch', path, inode, size, chunks }
}

/** Small content moves out of its inode when the file is cut into chunks. */
function outOfLine({ files, blobs, inode }: PatchTarget): ChunkChange[] {
  const { content } = files.inode(inode)
  return content instanceof Uint8Array && content.length > 0 ? [[0, blobs.put(content)]] : []
}

/** A chunk of a length with new bytes in it; what it held before is only read if some of it stays. */
function withPiece(
  target: PatchTarget,
  index: number,
  length: number,
  at: number,
  piece: Uint8Array,
): Uint8Array {
  if (piece.length === length) return new Uint8Array(piece)
  const whole = new Uint8Array(length)
  whole.set(oldChunk(target, index, length).subarray(0, length))
  whole.set(piece, at)
  return whole
}

function oldChunk({ files, blobs, inode }: PatchTarget, index: number, length: number): Uint8Array {
  const { content } = files.inode(inode)
  if (content instanceof Uint8Array) return index === 0 ? content : new Uint8Array(0)
  return chunkBytes(refAt(files, inode, index), length, blobs)
}

function hasChunk({ files, inode }: PatchTarget, index: number): boolean {
  return refAt(files, inode, index) !== undefined
}

function refAt(files: Files, inode: number, index: number): BlobRef | undefined {
  const { content } = files.inode(inode)
  if (content === 'chunks') return files.chunk(inode, index)
  return index === 0 && !(content instanceof Uint8Array) ? content : undefined
}
