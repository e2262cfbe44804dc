import { type EditToken, OrderedMap } from '../ordered-map.ts'
import type { LeafNode, MemoryNode, NodeEntry } from './nodes.ts'

interface SharedFile {
  readonly node: LeafNode
  readonly nlink: number
}

/**
 * The files of a tree that have several names, by number: their directories hold only that number, so that what
 * changes under one name changes under all. Part of the tree's state: changed in place under its own token, forked
 * for any other. A file stays here when all names but one are gone.
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

  /** The same files, to be changed under this token. Constant time. */
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

  /** The next state of a file. */
  replace(node: LeafNode): void {
    this.#files.set(String(node.ino), { node, nlink: this.#getFile(node.ino).nlink })
  }

  /** A name came (1) or went (-1); with the last one the file goes. */
  count(ino: number, change: 1 | -1): void {
    const { node, nlink } = this.#getFile(ino)
    if (nlink + change === 0) this.#files.delete(String(ino))
    else this.#files.set(String(ino), { node, nlink: nlink + change })
  }

  /** The numbers of the files that are in another state than before, or were not there. */
  listChangedSince(before: SharedFiles): Set<number> {
    if (this.isEmpty) return new Set()
    const differences = [...this.#files.differencesFrom(before.#files)]
    return new Set(
      differences.flatMap(({ old, now }) => (now && now.node !== old?.node ? [now.node.ino] : [])),
    )
  }

  #getFile(ino: number): SharedFile {
    const file = this.get(ino)
    if (file === undefined) throw new RangeError(`no file ${ino} has several names`)
    return file
  }
}

const EMPTY_TOKEN: EditToken = {}

/** Of a tree in which every file has one name. */
export const NO_SHARED_FILES: SharedFiles = new SharedFiles(EMPTY_TOKEN, new OrderedMap(EMPTY_TOKEN))
