import { type EditToken, OrderedMap } from '../ordered-map.ts'
import type { LeafNode, MemoryNode, NodeEntry } from './nodes.ts'

/** A file with several names, and their number. */
interface SharedFile {
  readonly node: LeafNode
  readonly nlink: number
}

/**
 * The files of a tree that have several names, by inode number. Their directories hold only the number, so a change
 * under one name is visible under all. Part of the tree's state: changes with the token it was made with are made in
 * place, and another token gets a copy. A file stays here when only one name is left, until that is removed.
 */
export class SharedFiles {
  readonly #token: EditToken
  readonly #files: OrderedMap<SharedFile>

  constructor(token: EditToken, files: OrderedMap<SharedFile>) {
    this.#token = token
    this.#files = files
  }

  get isEmpty(): boolean {
    return this.#files.size === 0
  }

  /** Returns these files for changes with a token. Takes constant time. */
  withToken(token: EditToken): SharedFiles {
    return token === this.#token ? this : new SharedFiles(token, this.#files.fork(token))
  }

  /** Returns the node that a directory entry refers to. */
  getNode(entry: NodeEntry): MemoryNode {
    return entry.type === 'shared' ? this.#getFile(entry.ino).node : entry
  }

  get(ino: number): SharedFile | undefined {
    return this.#files.get(String(ino))
  }

  /** Adds a file with one name. */
  add(node: LeafNode): void {
    this.#files.set(String(node.ino), { node, nlink: 1 })
  }

  /** Replaces the node of a file; its number of names stays. */
  replace(node: LeafNode): void {
    this.#files.set(String(node.ino), { node, nlink: this.#getFile(node.ino).nlink })
  }

  /** Adds a name (1) or removes one (-1). Removing the last name removes the file. */
  changeNameCount(ino: number, change: 1 | -1): void {
    const { node, nlink } = this.#getFile(ino)
    if (nlink + change === 0) this.#files.delete(String(ino))
    else this.#files.set(String(ino), { node, nlink: nlink + change })
  }

  /** Returns the numbers of the inodes whose node is new or differs from that in `before`. */
  findChangedInodes(before: SharedFiles): Set<number> {
    if (this.isEmpty) return new Set()
    const differences = [...this.#files.differencesFrom(before.#files)]
    return new Set(
      differences.flatMap(({ old, current }) =>
        current && current.node !== old?.node ? [current.node.ino] : [],
      ),
    )
  }

  #getFile(ino: number): SharedFile {
    const file = this.get(ino)
    if (file === undefined) throw new RangeError(`inode ${ino} is not a shared file`)
    return file
  }
}

/** Nothing changes with it, so that the constant below stays empty. */
const EMPTY_TOKEN: EditToken = {}

/** The shared files of a tree in which every file has one name. */
export const NO_SHARED_FILES: SharedFiles = new SharedFiles(EMPTY_TOKEN, new OrderedMap(EMPTY_TOKEN))
