import { VfsError } from '../error.ts'
import { OrderedMap } from '../ordered-map.ts'
import { basename } from '../path.ts'
import { resolveLinksSync } from '../resolve-links.ts'
import type { DirectoryNode, FileNode, LeafNode, LinkNode, MemoryNode, NodeEntry } from './nodes.ts'
import { NO_SHARED_FILES, type SharedFiles } from './shared-files.ts'
import { TreeCursor } from './tree-cursor.ts'

const DIRECTORY_MODE = 0o755

/** A tree at one moment. */
export interface TreeSnapshot {
  readonly root: DirectoryNode
  readonly shared: SharedFiles
}

/**
 * The tree of a `MemoryFs`: nodes by path, copied on write.
 * A fork and a snapshot share every node, and cost the same whatever the tree holds.
 */
export class MemoryTree {
  #edit: object = {}
  #root: DirectoryNode
  #shared: SharedFiles = NO_SHARED_FILES
  #hasLinks = false
  #lastIno = 0

  constructor(now: number) {
    this.#root = this.#newDirectory(now, DIRECTORY_MODE)
  }

  /** The tree as it is now, safe from later changes. */
  snapshot(): TreeSnapshot {
    this.#edit = {}
    return { root: this.#root, shared: this.#shared }
  }

  fork(): MemoryTree {
    const { root, shared } = this.snapshot()
    const fork = new MemoryTree(0)
    fork.#root = root
    fork.#shared = shared
    fork.#hasLinks = this.#hasLinks
    fork.#lastIno = this.#lastIno
    return fork
  }

  /** The number of a file that is about to be made. */
  allocateIno(): number {
    this.#lastIno++
    return this.#lastIno
  }

  /** The node at a path without links on the way. */
  get(path: string): MemoryNode | undefined {
    const entry = this.#findEntry(path)
    return entry?.type === 'shared' ? this.#shared.getNode(entry) : entry
  }

  /** Returns the type of a directory entry. */
  getEntryType(entry: NodeEntry): MemoryNode['type'] {
    return this.#shared.getNode(entry).type
  }

  /** Returns the number of names of a node. */
  nlink({ ino }: MemoryNode): number {
    return this.#shared.isEmpty ? 1 : (this.#shared.get(ino)?.nlink ?? 1)
  }

  /** The node of a file that has had several names, whatever they are. */
  getSharedNode(ino: number): LeafNode | undefined {
    return this.#shared.isEmpty ? undefined : this.#shared.get(ino)?.node
  }

  /** The path with its links followed. */
  resolve(path: string, followLast: boolean, op: string): string {
    if (!this.#hasLinks) return path
    return resolveLinksSync(path, followLast, op, (at) => {
      const node = this.get(at)
      return node?.type === 'symlink' ? node.target : null
    })
  }

  /** Puts an entry at a path, over what is there. */
  put(path: string, entry: NodeEntry, options: PutOptions): void {
    const directory = this.#ownParent(path, options)
    directory.entries.set(basename(path), entry)
    directory.mtime = options.now
  }

  /** Sets a path to what `next` makes of the node there; if that throws, the node stays. */
  update(path: string, options: PutOptions, next: (old: MemoryNode | undefined) => FileNode): void {
    const directory = this.#ownParent(path, options)
    const name = basename(path)
    const old = directory.entries.get(name)
    const node = next(old && this.#shared.getNode(old))
    if (old?.type === 'shared') this.#ownShared().replace(node)
    else directory.entries.set(name, node)
    directory.mtime = options.now
  }

  /** Replaces the state of an existing file, found by any of its names. Its directory does not change. */
  replace(path: string, node: LeafNode): void {
    if (this.getSharedNode(node.ino)) this.#ownShared().replace(node)
    else this.#ownParent(path, EXISTING_PATH).entries.set(basename(path), node)
  }

  /** Puts a symbolic link. From here on, paths have to be resolved. */
  putLink(path: string, link: LinkNode, options: PutOptions): void {
    this.put(path, link, options)
    this.#hasLinks = true
  }

  makeDirectory(path: string, mode: number | undefined, options: PutOptions): void {
    const made = this.#newDirectory(options.now, mode ?? DIRECTORY_MODE)
    this.put(path, made, options)
  }

  /** Gives the file or link at a path a second name, where nothing is. */
  addName(existing: string, path: string, options: PutOptions): void {
    const entry = this.#findEntry(existing)
    if (entry === undefined || entry.type === 'directory') throw new RangeError(`no file at ${existing}`)
    // What can fail comes first.
    const directory = this.#ownParent(path, options)
    const name = entry.type === 'shared' ? entry : this.#share(existing, entry)
    directory.entries.set(basename(path), name)
    directory.mtime = options.now
    this.#ownShared().count(name.ino, 1)
  }

  /** Moves what is at a path; what is at the target goes. */
  move(from: string, to: string, options: PutOptions): void {
    const entry = this.#findEntry(from)
    if (entry === undefined) throw new VfsError('ENOENT', from, { op: options.op })
    const target = this.#ownParent(to, options)
    this.#release(target.entries, basename(to))
    target.entries.set(basename(to), entry)
    target.mtime = options.now
    const source = this.#ownParent(from, options)
    source.entries.delete(basename(from))
    source.mtime = options.now
  }

  /** Removes what is at a path with all below it. */
  delete(path: string, op: string, now: number): void {
    const directory = this.#ownParent(path, { parents: false, op, now })
    const name = basename(path)
    this.#release(directory.entries, name)
    directory.entries.delete(name)
    directory.mtime = now
  }

  /** The directory at a path, for the caller to change its attributes. */
  ownDirectory(path: string): DirectoryNode {
    if (path === '/') {
      this.#root = this.#ensureOwned(this.#root)
      return this.#root
    }
    const parent = this.#ownParent(path, EXISTING_PATH)
    const found = parent.entries.get(basename(path))
    if (found?.type !== 'directory') throw new RangeError(`no directory at ${path}`)
    const owned = this.#ensureOwned(found)
    parent.entries.set(basename(path), owned)
    return owned
  }

  #findEntry(path: string): NodeEntry | undefined {
    let entry: NodeEntry | undefined = this.#root
    for (let start = 1; start < path.length; ) {
      if (entry?.type !== 'directory') return undefined
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      entry = entry.entries.get(path.slice(start, end))
      start = end + 1
    }
    return entry
  }

  /** From now on a file is in the table of those with several names. */
  #share(path: string, node: LeafNode): NodeEntry & { type: 'shared' } {
    const name = { type: 'shared', ino: node.ino } as const
    this.#ownParent(path, EXISTING_PATH).entries.set(basename(path), name)
    this.#ownShared().add(node)
    return name
  }

  /** The names of shared files at and below an entry that is about to go count no longer. */
  #release(entries: OrderedMap<NodeEntry>, name: string): void {
    if (this.#shared.isEmpty) return
    const entry = entries.get(name)
    const gone = entry?.type === 'shared' ? [entry.ino] : []
    if (entry?.type === 'directory') {
      const cursor = new TreeCursor(entry, this.#shared, '/')
      for (let node = cursor.next(); node; node = cursor.next()) {
        if (this.#shared.get(node.ino) !== undefined) gone.push(node.ino)
      }
    }
    for (const ino of gone) this.#ownShared().count(ino, -1)
  }

  #ownShared(): SharedFiles {
    this.#shared = this.#shared.withToken(this.#edit)
    return this.#shared
  }

  #newDirectory(now: number, mode: number): DirectoryNode {
    const entries = new OrderedMap<NodeEntry>(this.#edit)
    return { type: 'directory', ino: this.allocateIno(), edit: this.#edit, entries, mtime: now, mode }
  }

  /** The directory a path is in, with it and all above it this tree's own to change. */
  #ownParent(path: string, { parents, op, now }: PutOptions): DirectoryNode {
    let directory = this.#ensureOwned(this.#root)
    this.#root = directory
    for (let start = 1, end = path.indexOf('/', start); end !== -1; end = path.indexOf('/', start)) {
      const name = path.slice(start, end)
      const found = directory.entries.get(name)
      if (found === undefined && !parents) throw new VfsError('ENOENT', path, { op })
      if (found !== undefined && found.type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
      const next = found === undefined ? this.#newDirectory(now, DIRECTORY_MODE) : this.#ensureOwned(found)
      if (next !== found) directory.entries.set(name, next)
      if (found === undefined) directory.mtime = now
      directory = next
      start = end + 1
    }
    return directory
  }

  #ensureOwned(directory: DirectoryNode): DirectoryNode {
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

/** For what is known to be there. */
const EXISTING_PATH: PutOptions = { parents: false, op: 'replace', now: 0 }
