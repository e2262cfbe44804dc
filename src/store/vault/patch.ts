import type { InodeOperation } from '../files/operation.ts'
import type { VaultFiles } from '../files/vault-files.ts'
import { entryKinds, toGroup } from '../tree/tree-key.ts'
import { CHUNK_BYTES } from '../tree/tree-values.ts'
import type { BlobStore } from './blob-store.ts'
import { findChunkRef, MAX_INLINE_BYTES, readChunk, readContent } from './file-content.ts'

type PatchOperation = Extract<InodeOperation, { readonly op: 'patch' }>
type ChunkChange = PatchOperation['chunks'][number]

/** An inode whose content changes, and its path in the journal. */
export interface PatchTarget {
  readonly files: VaultFiles
  readonly blobs: BlobStore
  readonly inode: number
  readonly path: string
}

/**
 * Creates the operation that writes bytes at a position; a gap after the old end is a hole. Writing no bytes does not
 * extend the file.
 * @param findsStored looks for each whole chunk by its hash, and refers to it if the home has it already.
 */
export function patchBytes(
  target: PatchTarget,
  position: number,
  bytes: Uint8Array,
  findsStored = false,
): PatchOperation {
  const { files, blobs, inode, path } = target
  if (bytes.length === 0) return patchSize(target, files.getInode(inode).size)
  const { size: oldSize, content } = files.getInode(inode)
  const end = position + bytes.length
  const size = Math.max(oldSize, end)
  if (size <= MAX_INLINE_BYTES && content instanceof Uint8Array) {
    const whole = Buffer.alloc(size)
    whole.set(content)
    whole.set(bytes, position)
    return { op: 'patch', path, inode, size, inline: whole.toString('base64'), chunks: [] }
  }
  const first = Math.floor(position / CHUNK_BYTES)
  const chunks: ChunkChange[] = first > 0 ? moveOutOfLine(target) : []
  for (let index = first; index * CHUNK_BYTES < end; index++) {
    const begin = index * CHUNK_BYTES
    const [from, to] = [Math.max(position, begin), Math.min(end, begin + CHUNK_BYTES)]
    const piece = bytes.subarray(from - position, to - position)
    const length = Math.min(CHUNK_BYTES, size - begin)
    const offset = from - begin
    const replace = () => replaceRange(target, index, length, offset, piece)
    if (findsStored && piece.length === length) chunks.push([index, blobs.put(replace())])
    else {
      const delta = blobs.putDelta(findChunkRef(files, inode, index), length, { offset, bytes: piece })
      chunks.push([index, delta ?? blobs.putUnshared(replace())])
    }
  }
  return { op: 'patch', path, inode, size, chunks }
}

/** Creates the operation that resizes a file: shorter, or longer with a hole at the end. */
export function patchSize(target: PatchTarget, size: number): PatchOperation {
  const { files, blobs, inode, path } = target
  if (size <= MAX_INLINE_BYTES) {
    const [start = new Uint8Array(0)] = readContent(files, inode, blobs, 0, size)
    const whole = Buffer.alloc(size)
    whole.set(start)
    return { op: 'patch', path, inode, size, inline: whole.toString('base64'), chunks: [] }
  }
  const chunks = moveOutOfLine(target)
  const last = Math.floor((size - 1) / CHUNK_BYTES)
  const [begin, length] = [last * CHUNK_BYTES, size - last * CHUNK_BYTES]
  // The last chunk is truncated, so that its bytes do not reappear when the file grows.
  if (getChunkSize(target, last) > length) {
    const [kept = new Uint8Array(0)] = readContent(files, inode, blobs, begin, length)
    chunks.push([last, blobs.putUnshared(new Uint8Array(kept))])
  }
  return { op: 'patch', path, inode, size, chunks }
}

/** Creates the operation that punches a hole: its bytes are zero and take no space. The size stays. */
export function patchHole(target: PatchTarget, position: number, length: number): PatchOperation {
  const { files, blobs, inode, path } = target
  const { size, content } = files.getInode(inode)
  const end = Math.min(size, position + length)
  if (content instanceof Uint8Array) {
    const whole = Buffer.from(content).fill(0, Math.min(position, end), end)
    return { op: 'patch', path, inode, size, inline: whole.toString('base64'), chunks: [] }
  }
  const chunks: ChunkChange[] = []
  for (const index of listChunksInRange(target, position, end)) {
    const begin = index * CHUNK_BYTES
    const isWhole = position <= begin && end >= Math.min(size, begin + CHUNK_BYTES)
    chunks.push([
      index,
      isWhole ? null : blobs.putUnshared(zeroRange(target, index, position - begin, end - begin)),
    ])
  }
  return { op: 'patch', path, inode, size, chunks }
}

/** Returns a chunk with zeros in a range. */
function zeroRange(target: PatchTarget, index: number, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(readOldChunk(target, index, 0))
  return bytes.fill(0, Math.max(0, from), to)
}

/** Lists the chunks in a byte range that are not holes. */
function listChunksInRange({ files, inode }: PatchTarget, position: number, end: number): number[] {
  if (position >= end) return []
  if (files.getInode(inode).content !== 'chunks') return [0]
  const first = Math.floor(position / CHUNK_BYTES)
  const found: number[] = []
  for (const { sub } of files.tree.iterateGroup(toGroup(inode, entryKinds.chunk), first)) {
    if (Number(sub) * CHUNK_BYTES >= end) break
    found.push(Number(sub))
  }
  return found
}

/** Returns the change that moves inline content to a chunk, for a file that becomes chunked. */
function moveOutOfLine({ files, blobs, inode }: PatchTarget): ChunkChange[] {
  const { content } = files.getInode(inode)
  return content instanceof Uint8Array && content.length > 0 ? [[0, blobs.putUnshared(content)]] : []
}

/** Returns a chunk with new bytes in it; reads the old chunk only if part of it stays. */
function replaceRange(
  target: PatchTarget,
  index: number,
  length: number,
  offset: number,
  piece: Uint8Array,
): Uint8Array {
  // Every byte is written below, so zeroing is unnecessary.
  const whole = Buffer.allocUnsafe(length)
  if (piece.length < length) {
    const old = readOldChunk(target, index, 0).subarray(0, length)
    whole.set(old)
    whole.fill(0, old.length)
  }
  whole.set(piece, offset)
  return whole
}

function readOldChunk({ files, blobs, inode }: PatchTarget, index: number, length: number): Uint8Array {
  const { content } = files.getInode(inode)
  if (content instanceof Uint8Array) return index === 0 ? content : new Uint8Array(0)
  return readChunk(findChunkRef(files, inode, index), length, blobs)
}

function getChunkSize({ files, inode }: PatchTarget, index: number): number {
  return findChunkRef(files, inode, index)?.size ?? 0
}
