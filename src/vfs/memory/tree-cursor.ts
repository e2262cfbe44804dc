import type { DirEntry, WalkEntry, WalkOptions } from '../file-system.ts'
import type { SortedEntries } from '../ordered-map.ts'
import { child } from '../path.ts'
import { ReadyStream } from '../ready-stream.ts'
import { type DirectoryNode, type MemoryNode, type NodeEntry, toStat } from './nodes.ts'
import type { SharedFiles } from './shared-files.ts'

/** Walks a snapshot depth first in the order of names, without recursion, so deep trees are fine. */
export function walkTree(
  directory: DirectoryNode,
  shared: SharedFiles,
  root: string,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
): ReadyStream<WalkEntry> {
  const cursor = new TreeCursor(directory, shared, root, maxDepth)
  return new ReadyStream(() => {
    let node = cursor.next()
    while (node?.type === 'directory' && !includeDirs) node = cursor.next()
    return node && { path: cursor.path, stat: toStat(node) }
  })
}

/** Lists a directory of a snapshot in the order of names. */
export function listTree(directory: DirectoryNode, shared: SharedFiles): ReadyStream<DirEntry> {
  const cursor = new TreeCursor(directory, shared, '/', 1)
  return new ReadyStream(() => {
    const node = cursor.next()
    return node && { name: cursor.path.slice(1), type: node.type }
  })
}

/** Iterates over every node below a directory. `next` returns a node, and `path` is its path. */
export class TreeCursor {
  readonly #shared: SharedFiles
  readonly #maxDepth: number
  readonly #levels: CursorLevel[] = []
  path = ''

  constructor(
    directory: DirectoryNode,
    shared: SharedFiles,
    root: string,
    maxDepth: number = Number.POSITIVE_INFINITY,
  ) {
    this.#shared = shared
    this.#maxDepth = maxDepth
    this.#enter(directory, root)
  }

  next(): MemoryNode | undefined {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const index = level.index++
      const entry = level.leaf.values[index]
      if (entry === undefined) {
        if (!advance(level)) this.#levels.pop()
        continue
      }
      this.path = level.prefix + level.leaf.keys[index]
      const node = entry.type === 'shared' ? this.#shared.getNode(entry) : entry
      if (node.type === 'directory') this.#enter(node, this.path)
      return node
    }
    return undefined
  }

  #enter(directory: DirectoryNode, path: string): void {
    if (this.#levels.length >= this.#maxDepth) return
    const leaves = directory.entries.leaves()
    this.#levels.push({ prefix: child(path, ''), leaves, leaf: EMPTY_LEAF, index: 0 })
  }
}

/** Position of a cursor in one directory. */
interface CursorLevel {
  readonly prefix: string
  readonly leaves: Iterator<SortedEntries<NodeEntry>>
  leaf: SortedEntries<NodeEntry>
  /** Index of the next entry in `leaf`. */
  index: number
}

const EMPTY_LEAF: SortedEntries<NodeEntry> = { keys: [], values: [] }

/** Moves to the next leaf of a directory. Returns false after the last one. */
function advance(level: CursorLevel): boolean {
  const next = level.leaves.next()
  if (next.done) return false
  level.leaf = next.value
  level.index = 0
  return true
}
