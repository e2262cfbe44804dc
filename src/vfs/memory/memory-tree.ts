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
 * The copy-on-write tree of a `MemoryFs`. A fork and a snapshot share every node, so they cost the same for any size.
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

  /** Returns the current tree, unaffected by later changes. */
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

  /** Returns a new inode number. */
  allocateIno(): number {
    this.#lastIno++
    return this.#lastIno
  }

  /** Returns the node at a path whose links are already resolved. */
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

  /** Returns the node of a file that has, or had, several names. */
  getSharedNode(ino: number): LeafNode | undefined {
    return this.#shared.isEmpty ? undefined : this.#shared.get(ino)?.node
  }

  /** Resolves the links in a path. */
  resolve(path: string, followLast: boolean, op: string): string {
    if (!this.#hasLinks) return path
    return resolveLinksSync(path, followLast, op, (linkPath) => {
      const node = this.get(linkPath)
      return node?.type === 'symlink' ? node.target : null
    })
  }

  /** Puts an entry at a path, replacing any other. */
  put(path: string, entry: NodeEntry, options: PutOptions): void {
    const directory = this.#ownParent(path, options)
    directory.entries.set(basename(path), entry)
    directory.mtime = options.now
  }

  /** Replaces the node at a path by the result of `next`. If `next` throws, the node stays. */
  update(path: string, options: PutOptions, next: (old: MemoryNode | undefined) => FileNode): void {
    const directory = this.#ownParent(path, options)
    const name = basename(path)
    const old = directory.entries.get(name)
    const node = next(old && this.#shared.getNode(old))
    if (old?.type === 'shared') this.#ownShared().replace(node)
    else directory.entries.set(name, node)
    directory.mtime = options.now
  }

  /** Replaces the state of an existing file, found by any of its names. The time of its directory stays. */
  replace(path: string, node: LeafNode): void {
    if (this.getSharedNode(node.ino)) this.#ownShared().replace(node)
    else this.#ownParent(path, EXISTING_PATH).entries.set(basename(path), node)
  }

  /** Puts a symbolic link. From now on `resolve` looks for links. */
  putLink(path: string, link: LinkNode, options: PutOptions): void {
    this.put(path, link, options)
    this.#hasLinks = true
  }

  makeDirectory(path: string, mode: number | undefined, options: PutOptions): void {
    const directory = this.#newDirectory(options.now, mode ?? DIRECTORY_MODE)
    this.put(path, directory, options)
  }

  /** Adds a hard link at a path where nothing exists. */
  addName(existing: string, path: string, options: PutOptions): void {
    const entry = this.#findEntry(existing)
    if (entry === undefined || entry.type === 'directory') throw new RangeError(`no file at ${existing}`)
    // The step that can fail comes first.
    const directory = this.#ownParent(path, options)
    const name = entry.type === 'shared' ? entry : this.#share(existing, entry)
    directory.entries.set(basename(path), name)
    directory.mtime = options.now
    this.#ownShared().changeNameCount(name.ino, 1)
  }

  /** Moves an entry, replacing the target. */
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

  /** Removes an entry with everything below it. */
  delete(path: string, op: string, now: number): void {
    const directory = this.#ownParent(path, { parents: false, op, now })
    const name = basename(path)
    this.#release(directory.entries, name)
    directory.entries.delete(name)
    directory.mtime = now
  }

  /** Returns the directory at a path, writable by the caller. */
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

  /** Moves a file into the table of shared files, before it gets its second name. */
  #share(path: string, node: LeafNode): NodeEntry & { type: 'shared' } {
    const name = { type: 'shared', ino: node.ino } as const
    this.#ownParent(path, EXISTING_PATH).entries.set(basename(path), name)
    this.#ownShared().add(node)
    return name
  }

  /** Decrements the link counts of the shared files at and below an entry that is about to be removed. */
  #release(entries: OrderedMap<NodeEntry>, name: string): void {
    if (this.#shared.isEmpty) return
    const entry = entries.get(name)
    const removed = entry?.type === 'shared' ? [entry.ino] : []
    if (entry?.type === 'directory') {
      const cursor = new TreeCursor(entry, this.#shared, '/')
      for (let node = cursor.next(); node; node = cursor.next()) {
        if (this.#shared.get(node.ino) !== undefined) removed.push(node.ino)
      }
    }
    for (const ino of removed) this.#ownShared().changeNameCount(ino, -1)
  }

  #ownShared(): SharedFiles {
    this.#shared = this.#shared.withToken(this.#edit)
    return this.#shared
  }

  #newDirectory(now: number, mode: number): DirectoryNode {
    const entries = new OrderedMap<NodeEntry>(this.#edit)
    return { type: 'directory', ino: this.allocateIno(), edit: this.#edit, entries, mtime: now, mode }
  }

  /** Returns the parent directory of a path. It and its ancestors become this tree's own, to be changed in place. */
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
  /** Create missing parent directories. */
  readonly parents: boolean
  readonly op: string
  readonly now: number
}

/** Options for a path that is known to exist. */
const EXISTING_PATH: PutOptions = { parents: false, op: 'replace', now: 0 }
