import { isWithin } from '../path.ts'
import type { Identity } from '../protocols.ts'
import type { FileNode } from './nodes.ts'
import type { MemoryTree } from './tree.ts'

/** A file somebody has open: it goes where the file goes, and keeps it once its last name is gone. */
export class OpenFile {
  readonly #tree: MemoryTree
  readonly ino: Identity['ino']
  #path: string
  #detached: FileNode | null = null
  users = 0

  constructor(tree: MemoryTree, path: string, ino: Identity['ino']) {
    this.#tree = tree
    this.#path = path
    this.ino = ino
  }

  get node(): FileNode {
    const node = this.#detached ?? this.#inTree()
    if (node === undefined) throw new RangeError(`the open file ${this.ino} is lost`)
    return node
  }

  get nlink(): number {
    return this.#detached ? 0 : this.#tree.nlink(this.node)
  }

  replace(node: FileNode): void {
    if (this.#detached) this.#detached = node
    else this.#tree.replace(this.#path, node)
  }

  /** Its path or one above it is another now. */
  follow({ from, to }: Move): void {
    if (isWithin(this.#path, from)) this.#path = to + this.#path.slice(from.length)
  }

  /** Keeps the state it had if the tree has it no longer. */
  keep(node: FileNode): void {
    if (this.#detached === null && this.#inTree() === undefined) this.#detached = node
  }

  #inTree(): FileNode | undefined {
    const node = this.#tree.shared(this.ino) ?? this.#tree.get(this.#path)
    return node?.type === 'file' && node.ino === this.ino ? node : undefined
  }
}

export interface Move {
  readonly from: string
  readonly to: string
}

/** The open files of one tree. */
export class OpenFiles {
  readonly #tree: MemoryTree
  readonly #files = new Map<Identity['ino'], OpenFile>()

  constructor(tree: MemoryTree) {
    this.#tree = tree
  }

  /** The file at a path, one more time. To be given back by `release`. */
  acquire(path: string, { ino }: FileNode): OpenFile {
    const file = this.#files.get(ino) ?? new OpenFile(this.#tree, path, ino)
    this.#files.set(ino, file)
    file.users++
    return file
  }

  release(file: OpenFile): void {
    file.users--
    if (file.users === 0) this.#files.delete(file.ino)
  }

  /** To be asked for before names are moved or taken away, and settled after. */
  hold(): HeldFiles | undefined {
    return this.#files.size === 0 ? undefined : new HeldFiles(this.#files.values())
  }
}

/** Open files with the state each had before names changed. */
class HeldFiles {
  readonly #held: readonly { readonly file: OpenFile; readonly node: FileNode }[]

  constructor(files: Iterable<OpenFile>) {
    this.#held = Array.from(files, (file) => ({ file, node: file.node }))
  }

  settle(move?: Move): void {
    for (const { file, node } of this.#held) {
      if (move !== undefined) file.follow(move)
      file.keep(node)
    }
  }
}
