import { child, type FileType, VfsError } from '../../vfs/index.ts'

const ROOT_INODE = 1

/** A name that the kernel knows by number. */
export interface PathNode {
  readonly ino: number
  readonly type: FileType
  /** Parent directory; undefined for the root and for removed nodes. */
  parent: PathNode | undefined
  name: string
  /** Number of lookups that the kernel has not forgotten. */
  lookupCount: number
  readonly children: Map<string, PathNode>
}

/**
 * Maps the kernel's node numbers to paths. It is a tree of names, since a rename moves everything below it.
 * A number is never reused, and a recreated name is a new node.
 */
export class NodeTable {
  readonly root: PathNode = createNode(ROOT_INODE, 'directory')
  readonly #nodes = new Map<number, PathNode>([[ROOT_INODE, this.root]])
  #last = ROOT_INODE

  /** Throws ENOENT for a number that the kernel never got or has forgotten. */
  get(ino: number): PathNode {
    const node = this.#nodes.get(ino)
    if (node === undefined) throw new VfsError('ENOENT', `node ${ino}`, { op: 'lookup' })
    return node
  }

  /** Returns the current path of a node. ENOENT if it was removed. */
  getPath(node: PathNode): string {
    if (node === this.root) return '/'
    if (node.parent === undefined) throw new VfsError('ENOENT', node.name, { op: 'lookup' })
    return child(this.getPath(node.parent), node.name)
  }

  /** Returns the node for a path; undefined if the kernel does not know it. */
  findNode(path: string): PathNode | undefined {
    const names = path === '/' ? [] : path.slice(1).split('/')
    let node: PathNode | undefined = this.root
    for (const name of names) node = node?.children.get(name)
    return node
  }

  /** Returns the node for a name, a new one if its type has changed, and counts one lookup. */
  addLookup(parent: PathNode, name: string, type: FileType): PathNode {
    const existing = parent.children.get(name)
    const node = existing?.type === type ? existing : this.#addNode(parent, name, type)
    node.lookupCount++
    return node
  }

  /** Subtracts lookups of a node. */
  forget(ino: number, times: number): void {
    const node = this.#nodes.get(ino)
    if (node === undefined || node === this.root) return
    node.lookupCount = Math.max(0, node.lookupCount - times)
    this.#dropIfUnknown(node)
  }

  /** Removes a name; its node stays for open handles. */
  remove(parent: PathNode, name: string): void {
    const node = parent.children.get(name)
    parent.children.delete(name)
    if (node !== undefined) node.parent = undefined
  }

  /** Renames a node and removes the node at the target. */
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

  /** Drops a node without lookups and children. Children need their ancestors for their paths. */
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
