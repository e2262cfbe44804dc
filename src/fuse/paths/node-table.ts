import { child, type FileType, VfsError } from '../../vfs/index.ts'

const ROOT_INODE = 1

/** A name that the kernel knows by a number. */
export interface PathNode {
  readonly ino: number
  readonly type: FileType
  /** Where it is; undefined for the root, and once it has lost its name. */
  parent: PathNode | undefined
  name: string
  /** How often the kernel was told of it. */
  lookupCount: number
  readonly children: Map<string, PathNode>
}

/**
 * Which path the kernel means by which number: a tree of names, since a rename moves everything below it.
 * A number is never used again, and a name that is made anew is another node.
 */
export class NodeTable {
  readonly root: PathNode = createNode(ROOT_INODE, 'directory')
  readonly #nodes = new Map<number, PathNode>([[ROOT_INODE, this.root]])
  #last = ROOT_INODE

  /** ENOENT for what the kernel was never told of, or has forgotten. */
  get(ino: number): PathNode {
    const node = this.#nodes.get(ino)
    if (node === undefined) throw new VfsError('ENOENT', `node ${ino}`, { op: 'lookup' })
    return node
  }

  /** Where a node is now. ENOENT if it was removed. */
  getPath(node: PathNode): string {
    if (node === this.root) return '/'
    if (node.parent === undefined) throw new VfsError('ENOENT', node.name, { op: 'lookup' })
    return child(this.getPath(node.parent), node.name)
  }

  /** The node the kernel knows for a path. */
  findNode(path: string): PathNode | undefined {
    const names = path === '/' ? [] : path.slice(1).split('/')
    let node: PathNode | undefined = this.root
    for (const name of names) node = node?.children.get(name)
    return node
  }

  /** The node of a name, of which the kernel is about to be told once more. */
  addLookup(parent: PathNode, name: string, type: FileType): PathNode {
    const known = parent.children.get(name)
    const node = known?.type === type ? known : this.#addNode(parent, name, type)
    node.lookupCount++
    return node
  }

  /** The kernel forgets that it was told so many times. */
  forget(ino: number, times: number): void {
    const node = this.#nodes.get(ino)
    if (node === undefined || node === this.root) return
    node.lookupCount = Math.max(0, node.lookupCount - times)
    this.#dropIfUnknown(node)
  }

  /** A name is gone; what had it stays for whoever has it open. */
  remove(parent: PathNode, name: string): void {
    const node = parent.children.get(name)
    parent.children.delete(name)
    if (node !== undefined) node.parent = undefined
  }

  /** A name has become another, and what had that is gone. */
  move(from: PathNode, name: string, to: PathNode, newName: string): void {
    const node = from.children.get(name)
    if (node === undefined || (from === to && name === newName)) return
    this.remove(to, newName)
    from.children.delete(name)
    node.parent = to
    node.name = newName
    to.children.set(newName, node)
  }

  #addNode(parent: PathNode, name: string, type: FileType): PathNode {
    this.remove(parent, name)
    const node = createNode(++this.#last, type, parent, name)
    parent.children.set(name, node)
    this.#nodes.set(node.ino, node)
    return node
  }

  /** What has children is on their paths, and stays as long as they do. */
  #dropIfUnknown(node: PathNode): void {
    if (node === this.root || node.lookupCount > 0 || node.children.size > 0) return
    this.#nodes.delete(node.ino)
    const { parent } = node
    if (parent?.children.get(node.name) === node) parent.children.delete(node.name)
    if (parent !== undefined) this.#dropIfUnknown(parent)
  }
}

function createNode(ino: number, type: FileType, parent?: PathNode, name = ''): PathNode {
  return { ino, type, parent, name, lookupCount: 0, children: new Map() }
}
