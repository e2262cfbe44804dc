import { VfsError } from '../error.ts'
import type { WalkEntry, WalkOptions } from '../file-system.ts'
import { resolveLinksSync } from '../links.ts'
import { type Leaf, OrderedMap } from '../ordered-map.ts'
import { basename, child, dirname } from '../path.ts'
import { type DirectoryNode, type Node, statOf } from './nodes.ts'

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

  put(path: string, node: Node, { parents, op, now }: PutOptions): void {
    const directory = this.#ownDirectory(dirname(path), path, { parents, op, now })
    directory.entries.set(basename(path), node)
    directory.mtime = now
    if (node.type === 'symlink') this.#hasLinks = true
  }

  makeDirectory(path: string, mode: number | undefined, options: PutOptions): void {
    this.put(path, this.#newDirectory(options.now, mode ?? DIRECTORY_MODE), options)
  }

  delete(path: string, op: string, now: number): void {
    const directory = this.#ownDirectory(dirname(path), path, { parents: false, op, now })
    directory.entries.delete(basename(path))
    directory.mtime = now
  }

  #newDirectory(now: number, mode: number): DirectoryNode {
    return { type: 'directory', edit: this.#edit, entries: new OrderedMap(this.#edit), mtime: now, mode }
  }

  /** The directory at a path, with it and all above it this tree's own to change. */
  #ownDirectory(path: string, forPath: string, { parents, op, now }: PutOptions): DirectoryNode {
    let directory = this.#own(this.#root)
    this.#root = directory
    for (let start = 1; start < path.length; ) {
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      const name = path.slice(start, end)
      const found = directory.entries.get(name)
      if (found === undefined && !parents) throw new VfsError('ENOENT', forPath, { op })
      if (found !== undefined && found.type !== 'directory') throw new VfsError('ENOTDIR', forPath, { op })
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

/** Depth first over a snapshot, without recursion: deep trees are fine. */
export function* walkTree(
  directory: DirectoryNode,
  root: string,
  { maxDepth = Number.POSITIVE_INFINITY, includeDirs = false }: WalkOptions,
): Generator<WalkEntry> {
  for (const { path, node } of nodesBelow(directory, root, maxDepth)) {
    if (node.type !== 'directory' || includeDirs) yield { path, stat: statOf(node) }
  }
}

/** Every node below a directory with its path, depth first in the order of names. */
export function* nodesBelow(
  directory: DirectoryNode,
  root: string,
  maxDepth: number = Number.POSITIVE_INFINITY,
): Generator<{ path: string; node: Node }> {
  if (maxDepth < 1) return
  const levels = [new Level(root, directory)]
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const name = level.nextName()
    if (name === undefined) {
      levels.pop()
      continue
    }
    const path = level.prefix + name
    const node = level.node()
    yield { path, node }
    if (node.type === 'directory' && levels.length < maxDepth) levels.push(new Level(path, node))
  }
}

/** A cursor over one directory. */
class Level {
  readonly prefix: string
  readonly #leaves: Iterator<Leaf<Node>>
  #leaf: Leaf<Node> | undefined
  #at = -1

  constructor(path: string, directory: DirectoryNode) {
    this.prefix = child(path, '')
    this.#leaves = directory.entries.leaves()
    this.#leaf = this.#leaves.next().value
  }

  nextName(): string | undefined {
    this.#at++
    while (this.#leaf !== undefined && this.#at >= this.#leaf.keys.length) {
      this.#leaf = this.#leaves.next().value
      this.#at = 0
    }
    return this.#leaf?.keys[this.#at]
  }

  node(): Node {
    const node = this.#leaf?.values[this.#at]
    if (node === undefined) throw new RangeError('the cursor is at no entry')
    return node
  }
}
