import { isWithin } from '../path.ts'
import type { InodeIdentity } from '../protocols.ts'
import type { MemoryTree } from './memory-tree.ts'
import type { FileNode } from './nodes.ts'

/** An open file. It follows renames, and keeps the content after the last name is removed. */
export class OpenMemoryFile {
  readonly #tree: MemoryTree
  readonly ino: InodeIdentity['ino']
  #path: string
  /** The state of a file that has no name any more. */
  #detached: FileNode | null = null
  /** Number of open handles. */
  users = 0

  constructor(tree: MemoryTree, path: string, ino: InodeIdentity['ino']) {
    this.#tree = tree
    this.#path = path
    this.ino = ino
  }

  get node(): FileNode {
    const node = this.#detached ?? this.#findInTree()
    if (node === undefined) throw new RangeError(`the open file ${this.ino} is not in the tree`)
    return node
  }

  get nlink(): number {
    return this.#detached ? 0 : this.#tree.nlink(this.node)
  }

  replace(node: FileNode): void {
    if (this.#detached) this.#detached = node
    else this.#tree.replace(this.#path, node)
  }

  /** Updates the path after it or one of its parents was moved. */
  updatePath({ from, to }: PathMove): void {
    if (isWithin(this.#path, from)) this.#path = to + this.#path.slice(from.length)
  }

  /** Keeps the last state if the tree no longer has the file. */
  detachIfRemoved(node: FileNode): void {
    if (this.#detached === null && this.#findInTree() === undefined) this.#detached = node
  }

  #findInTree(): FileNode | undefined {
    const node = this.#tree.getSharedNode(this.ino) ?? this.#tree.get(this.#path)
    return node?.type === 'file' && node.ino === this.ino ? node : undefined
  }
}

export interface PathMove {
  readonly from: string
  readonly to: string
}

/** The open files of one tree. */
export class OpenFiles {
  readonly #tree: MemoryTree
  readonly #files = new Map<InodeIdentity['ino'], OpenMemoryFile>()

  constructor(tree: MemoryTree) {
    this.#tree = tree
  }

  /** Opens the file at a path and counts the use. Pair with `release`. */
  acquire(path: string, { ino }: FileNode): OpenMemoryFile {
    const file = this.#files.get(ino) ?? new OpenMemoryFile(this.#tree, path, ino)
    this.#files.set(ino, file)
    file.users++
    return file
  }

  release(file: OpenMemoryFile): void {
    file.users--
    if (file.users === 0) this.#files.delete(file.ino)
  }

  /** Records the open files before names are moved or removed. Call `update` on the result afterwards. */
  captureState(): CapturedFiles | undefined {
    return this.#files.size === 0 ? undefined : new CapturedFiles(this.#files.values())
  }
}

/** Open files with the state each had before names changed. */
class CapturedFiles {
  readonly #states: readonly { readonly file: OpenMemoryFile; readonly node: FileNode }[]

  constructor(files: Iterable<OpenMemoryFile>) {
    this.#states = Array.from(files, (file) => ({ file, node: file.node }))
  }

  update(move?: PathMove): void {
    for (const { file, node } of this.#states) {
      if (move !== undefined) file.updatePath(move)
      file.detachIfRemoved(node)
    }
  }
}
