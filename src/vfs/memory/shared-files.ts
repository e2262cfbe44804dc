import { type EditToken, OrderedMap } from '../ordered-map.ts'
import type { LeafNode, MemoryNode, NodeEntry } from './nodes.ts'

interface SharedFile {
  readonly node: LeafNode
  readonly nlink: number
}

/**
 * The files of a tree that have several names, by inode number. Their directories hold only the number, so a change
 * under one name is visible under all. Part of the tree's state: changed in place under its own token, forked for any
 * other. A file stays here when only one name is left.
 */
export class SharedFiles {
  readonly #edit: EditToken
  readonly #files: OrderedMap<SharedFile>

  constructor(edit: EditToken, files: OrderedMap<SharedFile>) {
    this.#edit = edit
    this.#files = files
  }

  get isEmpty(): boolean {
    return this.#files.size === 0
  }

  /** Returns the same files, writable under this token. Constant time. */
  withToken(edit: EditToken): SharedFiles {
    return edit === this.#edit ? this : new SharedFiles(edit, this.#files.fork(edit))
  }

  /** Returns the node that a directory entry names. */
  getNode(entry: NodeEntry): MemoryNode {
    return entry.type === 'shared' ? this.#getFile(entry.ino).node : entry
  }

  get(ino: number): SharedFile | undefined {
    return this.#files.get(String(ino))
  }

  add(node: LeafNode): void {
    this.#files.set(String(node.ino), { node, nlink: 1 })
  }

  /** Replaces the state of a file. */
  replace(node: LeafNode): void {
    this.#files.set(String(node.ino), { node, nlink: this.#getFile(node.ino).nlink })
  }

  /** Adds a name (1) or removes one (-1). Removing the last name removes the file. */
  count(ino: number, change: 1 | -1): void {
    const { node, nlink } = this.#getFile(ino)
    if (nlink + change === 0) this.#files.delete(String(ino))
    else this.#files.set(String(ino), { node, nlink: nlink + change })
  }

  /** Returns the inode numbers of the files that changed or were added since `before`. */
  listChangedSince(before: SharedFiles): Set<number> {
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

const EMPTY_TOKEN: EditToken = {}

/** The shared files of a tree in which every file has one name. */
export const NO_SHARED_FILES: SharedFiles = new SharedFiles(EMPTY_TOKEN, new OrderedMap(EMPTY_TOKEN))
