import { VfsError } from '../error.ts'
import type { DirEntry, WalkEntry, WalkOptions } from '../file-system.ts'
import { resolveLinksSync } from '../links.ts'
import { OrderedMap, type SortedEntries } from '../ordered-map.ts'
import { basename, child } from '../path.ts'
import { ReadyStream } from '../streams.ts'
import { type DirectoryNode, type LinkNode, type Node, statOf } from './nodes.ts'

const DIRECTORY_MODE = 0o755

/**
 * The tree of a `MemoryFs`: nodes by path, copied on write.
 * A fork and a snapshot share every node, and cost the same whatever the tree holds.
 */
export class MemoryTree {
  #edit: object = {}
  #root: DirectoryNode
  #hasLinks = false

  constructor(now: number) {
    this.#root = this.#newDirectory(now, DIRECTORY_MODE)
  }

  /** The tree as it is now, safe from later changes. */
  snapshot(): DirectoryNode {
    this.#edit = {}
    return this.#root
  }

  fork(): MemoryTree {
    const fork = new MemoryTree(0)
    fork.#root = this.snapshot()
    fork.#hasLinks = this.#hasLinks
    return fork
  }

  /** The node at a path without links on the way. */
  get(path: string): Node | undefined {
    let node: Node | undefined = this.#root
    for (let start = 1; start < path.length; ) {
      if (node?.type !== 'directory') return undefined
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      node = node.entries.get(path.slice(start, end))
      start = end + 1
    }
    return node
  }

  /** The path with its links followed. */
  resolve(path: string, followLast: boolean, op: string): string {
    if (!this.#hasLinks) return path
    return resolveLinksSync(path, followLast, op, (at) => {
      const node = this.get(at)
      return node?.type === 'symlink' ? node.target : null
    })
  }

  put(path: string, node: Node, options: PutOptions): void {
    this.update(path, options, () => node)
  }

  /** Sets a path to what `next` makes of the node there; if that throws, the node stays. */
  update(path: string, options: PutOptions, next: (old: Node | undefined) => Node): void {
    const directory = this.#ownParent(path, options)
    const name = basename(path)
    directory.entries.set(name, next(directory.entries.get(name)))
    directory.mtime = options.now
  }

  /** Puts a symbolic link. From here on, paths have to be resolved. */
  putLink(path: string, link: LinkNode, options: PutOptions): void {
    this.put(path, link, options)
    this.#hasLinks = true
  }

  makeDirectory(path: string, mode: number | undefined, options: PutOptions): void {
    this.put(path, this.#newDirectory(options.now, mode ?? DIRECTORY_MODE), options)
  }

  delete(path: string, op: string, now: number): void {
    const directory = this.#ownParent(path, { parents: false, op, now })
    directory.entries.delete(basename(path))
    directory.mtime = now
  }

  #newDirectory(now: number, mode: number): DirectoryNode {
    return { type: 'directory', edit: this.#edit, entries: new OrderedMap(this.#edit), mtime: now, mode }
  }

  /** The directory a path is in, with it and all above it this tree's own to change. */
  #ownParent(path: string, { parents, op, now }: PutOptions): DirectoryNode {
    let directory = this.#own(this.#root)
    this.#root = directory
    for (let start = 1, end = path.indexOf('/', start); end !== -1; end = path.indexOf('/', start)) {
      const name = path.slice(start, end)
      const found = directory.entries.get(name)
      if (found === undefined && !parents) throw new VfsError('ENOENT', path, { op })
      if (found !== undefined && found.type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
      const next = found === undefined ? this.#newDirectory(now, DIRECTORY_MODE) : this.#own(found)
      if (next !== found) directory.entries.set(name, next)
      if (found === undefined) directory.mtime = now
      directory = next
      start = end + 1
    }
    return directory
  }

  #own(directory: DirectoryNode): DirectoryNode {
    if (directory.edit === this.#edit) return directory
    return { ...directory, edit: this.#edit, entries: directory.entries.fork(this.#edit) }
  }
}

export interface PutOptions {
  /** Make missing directories on the way. */
  readonly parents: boolean
  readonly op: string
  readonly now: number
}

/** Depth first over a snapshot in the order of names; without recursion, so deep trees are fine. */
export function walkTree(
  directory: DirectoryNode,
  root: string,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
): ReadyStream<WalkEntry> {
  const cursor = new TreeCursor(directory, root, maxDepth)
  return new ReadyStream(() => {
    let node = cursor.next()
    while (node?.type === 'directory' && !includeDirs) node = cursor.next()
    return node && { path: cursor.path, stat: statOf(node) }
  })
}

/** The entries of a snapshot's directory, in the order of names. */
export function listTree(directory: DirectoryNode): ReadyStream<DirEntry> {
  const cursor = new TreeCursor(directory, '/', 1)
  return new ReadyStream(() => {
    const node = cursor.next()
    return node && { name: cursor.path.slice(1), type: node.type }
  })
}

/** Every node below a directory, one by one: `next` gives the node, `path` is where it is. */
export class TreeCursor {
  readonly #maxDepth: number
  readonly #levels: Level[] = []
  path = ''

  constructor(directory: DirectoryNode, root: string, maxDepth: number = Number.POSITIVE_INFINITY) {
    this.#maxDepth = maxDepth
    this.#enter(directory, root)
  }

  next(): Node | undefined {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const at = level.at++
      const node = level.leaf.values[at]
      if (node === undefined) {
        if (!advance(level)) this.#levels.pop()
        continue
      }
      this.path = level.prefix + level.leaf.keys[at]
      if (node.type === 'directory') this.#enter(node, this.path)
      return node
    }
    return undefined
  }

  #enter(directory: DirectoryNode, path: string): void {
    if (this.#levels.length >= this.#maxDepth) return
    const leaves = directory.entries.leaves()
    this.#levels.push({ prefix: child(path, ''), leaves, leaf: EMPTY_LEAF, at: 0 })
  }
}

/** Where a cursor stands in one directory. */
interface Level {
  readonly prefix: string
  readonly leaves: Iterator<SortedEntries<Node>>
  leaf: SortedEntries<Node>
  at: number
}

const EMPTY_LEAF: SortedEntries<Node> = { keys: [], values: [] }

function advance(level: Level): boolean {
  const next = level.leaves.next()
  if (next.done) return false
  level.leaf = next.value
  level.at = 0
  return true
}
