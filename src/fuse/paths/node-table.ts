import { child, type FileType, VfsError } from '../../vfs/index.ts'

const ROOT = 1

/** A name that the kernel knows by a number. */
export interface Node {
  readonly ino: number
  readonly type: FileType
  /** Where it is; undefined for the root, and once it has lost its name. */
  parent: Node | undefined
  name: string
  /** How often the kernel was told of it. */
  told: number
  readonly children: Map<string, Node>
}

/**
 * Which path the kernel means by which number: a tree of names, since a rename moves everything below it.
 * A number is never used again, and a name that is made anew is another node.
 */
export class NodeTable {
  readonly root: Node = newNode(ROOT, 'directory')
  readonly #nodes = new Map<number, Node>([[ROOT, this.root]])
  #last = ROOT

  /** ENOENT for what the kernel was never told of, or has forgotten. */
  get(ino: number): Node {
    const node = this.#nodes.get(ino)
    if (node === undefined) throw new VfsError('ENOENT', `node ${ino}`, { op: 'lookup' })
    return node
  }

  /** Where a node is now. ENOENT if it was removed. */
  pathOf(node: Node): string {
    if (node === this.root) return '/'
    if (node.parent === undefined) throw new VfsError('ENOENT', node.name, { op: 'lookup' })
    return child(this.pathOf(node.parent), node.name)
  }

  /** The node the kernel knows for a path. */
  at(path: string): Node | undefined {
    const names = path === '/' ? [] : path.slice(1).split('/')
    let node: Node | undefined = this.root
    for (const name of names) node = node?.children.get(name)
    return node
  }

  /** The node of a name, of which the kernel is about to be told once more. */
  tell(parent: Node, name: string, type: FileType): Node {
    const known = parent.children.get(name)
    const node = known?.type === type ? known : this.#make(parent, name, type)
    node.told++
    return node
  }

  /** The kernel forgets that it was told so many times. */
  forget(ino: number, times: number): void {
    const node = this.#nodes.get(ino)
    if (node === undefined || node === this.root) return
    node.told = Math.max(0, node.told - times)
    this.#dropIfUnknown(node)
  }

  /** A name is gone; what had it stays for whoever has it open. */
  remove(parent: Node, name: string): void {
    const node = parent.children.get(name)
    parent.children.delete(name)
    if (node !== undefined) node.parent = undefined
  }

  /** A name has become another, and what had that is gone. */
  move(from: Node, name: string, to: Node, newName: string): void {
    const node = from.children.get(name)
    if (node === undefined || (from === to && name === newName)) return
    this.remove(to, newName)
    from.children.delete(name)
    node.parent = to
    node.name = newName
    to.children.set(newName, node)
  }

  #make(parent: Node, name: string, type: FileType): Node {
    this.remove(parent, name)
    const node = newNode(++this.#last, type, parent, name)
    parent.children.set(name, node)
    this.#nodes.set(node.ino, node)
    return node
  }

  /** What has children is on their paths, and stays as long as they do. */
  #dropIfUnknown(node: Node): void {
    if (node === this.root || node.told > 0 || node.children.size > 0) return
    this.#nodes.delete(node.ino)
    const { parent } = node
    if (parent?.children.get(node.name) === node) parent.children.delete(node.name)
    if (parent !== undefined) this.#dropIfUnknown(parent)
  }
}

function newNode(ino: number, type: FileType, parent?: Node, name = ''): Node {
  return { ino, type, parent, name, told: 0, children: new Map() }
}
