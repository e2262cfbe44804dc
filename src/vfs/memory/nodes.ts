import type { Stat } from '../file-system.ts'
import type { EditToken, OrderedMap } from '../ordered-map.ts'

/** A file: never changed once it is in a tree, so a reader that holds one keeps its content. */
export interface FileNode {
  readonly type: 'file'
  readonly content: FileContent
  /** The length of the content, here so that a walk need not touch it. */
  readonly size: number
  readonly mtime: number
  readonly mode: number
}

export interface LinkNode {
  readonly type: 'symlink'
  readonly target: string
  readonly mtime: number
  readonly mode: number
}

/** A directory: changed in place under its own token, copied under any other. */
export interface DirectoryNode {
  readonly type: 'directory'
  readonly edit: EditToken
  readonly entries: OrderedMap<Node>
  mtime: number
  readonly mode: number
}

export type Node = FileNode | LinkNode | DirectoryNode

/** The bytes of a file; `spare` is the larger buffer they lie in when the file has been appended to. */
export interface FileContent {
  readonly bytes: Uint8Array
  readonly spare: SpareBuffer | null
  /** SHA-256 in hex, once somebody asked for it. */
  hash?: string
}

interface SpareBuffer {
  readonly buffer: Uint8Array
  used: number
}

/**
 * Content with more bytes at its end, in amortised time of the bytes added.
 * The old content stays as it is: only bytes behind its end are written, and only by the first who extends it.
 */
export function extendContent({ bytes, spare }: FileContent, more: Uint8Array): FileContent {
  const size = bytes.length + more.length
  const fits = spare !== null && spare.used === bytes.length && spare.buffer.length >= size
  const room = fits ? spare : roomierCopy(bytes, size)
  room.buffer.set(more, bytes.length)
  room.used = size
  return { bytes: room.buffer.subarray(0, size), spare: room }
}

export function fileNode(content: FileContent, mtime: number, mode: number): FileNode {
  return { type: 'file', content, size: content.bytes.length, mtime, mode }
}

export function statOf(node: Node): Stat {
  return { type: node.type, size: sizeOf(node), mtime: new Date(node.mtime), mode: node.mode }
}

function sizeOf(node: Node): number {
  if (node.type === 'file') return node.size
  return node.type === 'symlink' ? Buffer.byteLength(node.target) : 0
}

function roomierCopy(bytes: Uint8Array, size: number): SpareBuffer {
  const buffer = new Uint8Array(Math.max(64, size * 2))
  buffer.set(bytes)
  return { buffer, used: bytes.length }
}
