import type { Stat } from '../file-system.ts'
import type { EditToken, OrderedMap } from '../ordered-map.ts'
import type { Identity } from '../protocols.ts'
import type { FileContent } from './content.ts'

/** A file: never changed once it is in a tree, so a reader that holds one keeps its content. */
export interface FileNode {
  readonly type: 'file'
  /** Which file it is: the next state of the same file has the same number. */
  readonly ino: Identity['ino']
  readonly content: FileContent
  /** The length of the content, here so that a walk need not touch it. */
  readonly size: number
  readonly mtime: number
  readonly mode: number
}

export interface LinkNode {
  readonly type: 'symlink'
  readonly ino: Identity['ino']
  readonly target: string
  readonly mtime: number
  readonly mode: number
}

/** A directory: changed in place under its own token, copied under any other. */
export interface DirectoryNode {
  readonly type: 'directory'
  readonly ino: Identity['ino']
  readonly edit: EditToken
  readonly entries: OrderedMap<Entry>
  mtime: number
  mode: number
}

export type Node = FileNode | LinkNode | DirectoryNode

/** What can have several names. */
export type LeafNode = FileNode | LinkNode

/** One of the names of a file that has, or had, several: what it names is in the tree's `SharedFiles`. */
interface SharedName {
  readonly type: 'shared'
  readonly ino: Identity['ino']
}

/** What a directory holds at a name. */
export type Entry = Node | SharedName

export function fileNode(ino: Identity['ino'], content: FileContent, mtime: number, mode: number): FileNode {
  return { type: 'file', ino, content, size: content.bytes.length, mtime, mode }
}

export function statOf(node: Node): Stat {
  return { type: node.type, size: sizeOf(node), mtime: new Date(node.mtime), mode: node.mode }
}

function sizeOf(node: Node): number {
  if (node.type === 'file') return node.size
  return node.type === 'symlink' ? Buffer.byteLength(node.target) : 0
}
