import { assertSameVersion } from '../backend.ts'
import { VfsError } from '../error.ts'
import { traceCache } from '../events.ts'
import type { CallContext, DirEntry, MkdirOptions, RemoveOptions, WriteOptions } from '../file-system.ts'
import { isWithin } from '../path.ts'
import type { InodeIdentity, OpenOptions, RenameOptions, StatChanges } from '../protocols.ts'
import { assertLinkFree, assertLinkTarget } from '../resolve-links.ts'
import { sha256 } from '../runtime.ts'
import { assertStatChanges } from '../stat-changes.ts'
import type { SyncFileHandle } from '../sync-file-system.ts'
import { EMPTY_CONTENT, extendContent } from './memory-content.ts'
import { MemoryHandle } from './memory-handle.ts'
import { MemoryTree, type TreeSnapshot } from './memory-tree.ts'
import { createFileNode, type DirectoryNode, type FileNode, type LinkNode, type MemoryNode } from './nodes.ts'
import { OpenFiles } from './open-files.ts'

const FILE_MODE = 0o644
const LINK_MODE = 0o777
const PERMISSIONS = 0o7777

/** The operations of a `MemoryFs` on canonical paths, synchronous; both of its faces call them. */
export class MemoryFiles {
  readonly #now: () => number
  readonly #tree: MemoryTree
  #open: OpenFiles | undefined
  /** The token whose writes through handles may change content in place; null once others may see the content. */
  #writer: object | null = null

  constructor(now: () => number, tree: MemoryTree = new MemoryTree(now())) {
    this.#now = now
    this.#tree = tree
  }

  fork(): MemoryFiles {
    this.#writer = null
    return new MemoryFiles(this.#now, this.#tree.fork())
  }

  /**
   * Returns a snapshot of names and attributes. `withContents` also freezes the contents: later writes through open
   * handles copy them first.
   */
  snapshot(withContents: boolean): TreeSnapshot {
    if (withContents) this.#writer = null
    return this.#tree.snapshot()
  }

  find(path: string, followLast: boolean, op: string, ctx?: CallContext): MemoryNode | undefined {
    return this.#tree.get(this.resolve(path, followLast, op, ctx))
  }

  getNode(path: string, op: string, followLast: boolean, ctx?: CallContext): MemoryNode {
    const node = this.find(path, followLast, op, ctx)
    if (node === undefined) throw new VfsError('ENOENT', path, { op })
    return node
  }

  getFile(path: string, op: string, ctx?: CallContext): FileNode {
    const node = this.getNode(path, op, true, ctx)
    if (node.type === 'directory') throw new VfsError('EISDIR', path, { op })
    if (node.type === 'symlink') throw new VfsError('ELOOP', path, { op })
    return node
  }

  getDirectory(path: string, op: string, ctx?: CallContext): DirectoryNode {
    const node = this.getNode(path, op, true, ctx)
    if (node.type !== 'directory') throw new VfsError('ENOTDIR', path, { op })
    return node
  }

  /** Returns the entries of a directory, sorted by name. */
  list(path: string, ctx?: CallContext): DirEntry[] {
    const entries = this.getDirectory(path, 'readdir', ctx).entries.entries()
    return Array.from(entries, ([name, entry]) => ({ name, type: this.#tree.getEntryType(entry) }))
  }

  identity(node: MemoryNode): InodeIdentity {
    return { ino: node.ino, nlink: this.#tree.nlink(node) }
  }

  hash(path: string, { content }: FileNode): string {
    traceCache('memory-hash', path, content.hash === undefined ? 'miss' : 'hit')
    content.hash ??= sha256(content.bytes)
    return content.hash
  }

  /** Resolves the links in a path. Throws ELOOP if the call must not follow links. */
  resolve(path: string, followLast: boolean, op: string, ctx?: CallContext): string {
    const resolved = this.#tree.resolve(path, followLast, op)
    assertLinkFree(path, resolved, op, ctx)
    return resolved
  }

  readlink(path: string, ctx?: CallContext): string {
    const node = this.getNode(path, 'readlink', false, ctx)
    if (node.type === 'symlink') return node.target
    throw new VfsError('EINVAL', path, { op: 'readlink', detail: 'not a symbolic link' })
  }

  store(
    path: string,
    bytes: Uint8Array,
    { parents = true, ifMatch, mode }: WriteOptions,
    ctx?: CallContext,
  ): void {
    const resolved = this.#resolveTarget(path, 'write', ctx)
    if (ifMatch !== undefined) assertSameVersion(path, this.#hashIfPresent(resolved), ifMatch)
    const now = this.#now()
    this.#tree.update(resolved, { parents, op: 'write', now }, (old) => {
      if (old?.type === 'directory') throw new VfsError('EISDIR', path, { op: 'write' })
      const ino = old?.ino ?? this.#tree.allocateIno()
      return createFileNode(ino, { bytes, spare: null }, now, mode ?? old?.mode ?? FILE_MODE)
    })
  }

  append(path: string, more: Uint8Array, ctx?: CallContext): void {
    const resolved = this.#resolveTarget(path, 'append', ctx)
    const now = this.#now()
    this.#tree.update(resolved, { parents: true, op: 'append', now }, (old) => {
      if (old?.type === 'directory') throw new VfsError('EISDIR', path, { op: 'append' })
      if (old?.type === 'file')
        return createFileNode(old.ino, extendContent(old.content, more), now, old.mode)
      return createFileNode(this.#tree.allocateIno(), { bytes: more, spare: null }, now, FILE_MODE)
    })
  }

  open(
    path: string,
    { write = false, create = false, truncate = false, append = false }: OpenOptions,
    ctx?: CallContext,
  ): SyncFileHandle {
    const resolved = this.#resolveTarget(path, 'open', ctx)
    if (create && this.#tree.get(resolved) === undefined) {
      const now = this.#now()
      const file = createFileNode(this.#tree.allocateIno(), EMPTY_CONTENT, now, FILE_MODE)
      this.#tree.put(resolved, file, { parents: true, op: 'open', now })
    }
    this.#open ??= new OpenFiles(this.#tree)
    const open = this.#open
    const file = open.acquire(resolved, this.getFile(path, 'open', ctx))
    const handle = new MemoryHandle(file, {
      path,
      isWritable: write,
      isAppending: append,
      now: this.#now,
      writer: () => this.#currentWriter(),
      close: () => open.release(file),
    })
    if (truncate) handle.empty()
    return handle
  }

  mkdir(path: string, { parents = false, mode }: MkdirOptions, ctx?: CallContext): void {
    const resolved = this.resolve(path, false, 'mkdir', ctx)
    if (this.#tree.get(resolved)) {
      const target = parents ? this.#tree.get(this.resolve(resolved, true, 'mkdir', ctx)) : undefined
      if (target?.type === 'directory') return
      throw new VfsError('EEXIST', path, { op: 'mkdir' })
    }
    this.#tree.makeDirectory(resolved, mode, { parents, op: 'mkdir', now: this.#now() })
  }

  remove(path: string, { recursive = false }: RemoveOptions, ctx?: CallContext): void {
    const node = this.getNode(path, 'remove', false, ctx)
    if (node.type === 'directory' && !recursive) throw new VfsError('EISDIR', path, { op: 'remove' })
    this.#delete(path, 'remove')
  }

  rmdir(path: string, ctx?: CallContext): void {
    const node = this.getNode(path, 'rmdir', false, ctx)
    if (node.type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'rmdir' })
    if (node.entries.size > 0) throw new VfsError('ENOTEMPTY', path, { op: 'rmdir' })
    this.#delete(path, 'rmdir')
  }

  rename(from: string, to: string, { overwrite = false }: RenameOptions, ctx?: CallContext): void {
    const source = this.resolve(from, false, 'rename', ctx)
    const target = this.resolve(to, false, 'rename', ctx)
    const node = this.#tree.get(source)
    if (node === undefined) throw new VfsError('ENOENT', from, { op: 'rename' })
    if (source === target) return
    if (isWithin(target, source)) {
      throw new VfsError('EINVAL', from, { op: 'rename', detail: `'${to}' lies inside it` })
    }
    const replaced = this.#tree.get(target)
    if (replaced) assertReplaceable(node, replaced, to, overwrite)
    // Source and target are hard links of one file: POSIX leaves both.
    if (replaced?.ino === node.ino) return
    const captured = this.#open?.captureState()
    this.#tree.move(source, target, { parents: true, op: 'rename', now: this.#now() })
    captured?.update({ from: source, to: target })
  }

  symlink(target: string, path: string, ctx?: CallContext): void {
    assertLinkTarget(target)
    const resolved = this.resolve(path, false, 'symlink', ctx)
    if (this.#tree.get(resolved)) throw new VfsError('EEXIST', path, { op: 'symlink' })
    const now = this.#now()
    const ino = this.#tree.allocateIno()
    const link: LinkNode = { type: 'symlink', ino, target, mtime: now, mode: LINK_MODE }
    this.#tree.putLink(resolved, link, { parents: true, op: 'symlink', now })
  }

  link(existing: string, path: string, ctx?: CallContext): void {
    const source = this.resolve(existing, false, 'link', ctx)
    const resolved = this.resolve(path, false, 'link', ctx)
    const { type } = this.getNode(existing, 'link', false)
    if (type === 'directory') throw new VfsError('EISDIR', existing, { op: 'link' })
    if (this.#tree.get(resolved)) throw new VfsError('EEXIST', path, { op: 'link' })
    this.#tree.addName(source, resolved, { parents: false, op: 'link', now: this.#now() })
  }

  setattr(path: string, changes: StatChanges, ctx?: CallContext): void {
    assertStatChanges(path, changes)
    const resolved = this.resolve(path, changes.ofLink !== true, 'setattr', ctx)
    const node = this.#tree.get(resolved)
    if (node === undefined) throw new VfsError('ENOENT', path, { op: 'setattr' })
    const mode = (changes.mode ?? node.mode) & PERMISSIONS
    const mtime = changes.mtime?.getTime() ?? node.mtime
    if (node.type === 'directory') Object.assign(this.#tree.ownDirectory(resolved), { mode, mtime })
    else this.#tree.replace(resolved, { ...node, mode, mtime })
  }

  #currentWriter(): object {
    this.#writer ??= {}
    return this.#writer
  }

  #delete(path: string, op: string): void {
    const captured = this.#open?.captureState()
    this.#tree.delete(this.#tree.resolve(path, false, op), op, this.#now())
    captured?.update()
  }

  /** Returns the target path of a write. EISDIR if a link leads to the root. */
  #resolveTarget(path: string, op: string, ctx: CallContext | undefined): string {
    const resolved = this.resolve(path, true, op, ctx)
    if (resolved === '/') throw new VfsError('EISDIR', path, { op })
    return resolved
  }

  #hashIfPresent(path: string): string | null {
    const node = this.#tree.get(path)
    return node?.type === 'file' ? this.hash(path, node) : null
  }
}

function assertReplaceable(node: MemoryNode, replaced: MemoryNode, path: string, overwrite: boolean): void {
  if (!overwrite) throw new VfsError('EEXIST', path, { op: 'rename' })
  if (replaced.type !== 'directory') {
    if (node.type === 'directory') throw new VfsError('ENOTDIR', path, { op: 'rename' })
    return
  }
  if (node.type !== 'directory') throw new VfsError('EISDIR', path, { op: 'rename' })
  if (replaced.entries.size > 0) throw new VfsError('ENOTEMPTY', path, { op: 'rename' })
}
