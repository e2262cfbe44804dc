import { countUtf8Bytes } from '../bytes.ts'
import type { Stat } from '../file-system.ts'
import type { EditToken, OrderedMap } from '../ordered-map.ts'
import type { InodeIdentity } from '../protocols.ts'
import type { MemoryContent } from './memory-content.ts'

/** A file. It is immutable once it is in a tree, so a reader that holds one keeps its content. */
export interface FileNode {
  readonly type: 'file'
  /** The inode number; later states of the same file keep it. */
  readonly ino: InodeIdentity['ino']
  readonly content: MemoryContent
  /** The length of the content, stored here so that a walk need not touch the content. */
  readonly size: number
  readonly mtime: number
  readonly mode: number
}

export interface LinkNode {
  readonly type: 'symlink'
  readonly ino: InodeIdentity['ino']
  readonly target: string
  readonly mtime: number
  readonly mode: number
}

/** A directory. It is changed in place under its own edit token and copied under any other. */
export interface DirectoryNode {
  readonly type: 'directory'
  readonly ino: InodeIdentity['ino']
  readonly edit: EditToken
  readonly entries: OrderedMap<NodeEntry>
  mtime: number
  mode: number
}

export type MemoryNode = FileNode | LinkNode | DirectoryNode

/** A node that can have several names. */
export type LeafNode = FileNode | LinkNode

/** A name of a file that has, or had, several. The node is in the tree's `SharedFiles`. */
interface SharedName {
  readonly type: 'shared'
  readonly ino: InodeIdentity['ino']
}

/** An entry of a directory. */
export type NodeEntry = MemoryNode | SharedName

export function createFileNode(
  ino: InodeIdentity['ino'],
  content: MemoryContent,
  mtime: number,
  mode: number,
): FileNode {
  return { type: 'file', ino, content, size: content.bytes.length, mtime, mode }
}

export function toStat(node: MemoryNode): Stat {
  return { type: node.type, size: getNodeSize(node), mtime: new Date(node.mtime), mode: node.mode }
}

function getNodeSize(node: MemoryNode): number {
  if (node.type === 'file') return node.size
  return node.type === 'symlink' ? countUtf8Bytes(node.target) : 0
}
