import type {
  InodeAttributes,
  InodeChanges,
  InodeEntry,
  InodeFs,
  InodeTime,
} from '../../src/fuse/inode-fs.ts'
import { type FileType, VfsError } from '../../src/vfs/index.ts'

const ROOT = 1
const PERMISSIONS = 0o7777
const BLOCK_BYTES = 512
const formats = { file: 0o100000, directory: 0o040000, symlink: 0o120000, other: 0 } as const
const plenty = {
  blockSize: 4096,
  blocks: 1e6,
  freeBlocks: 1e6,
  files: 1e6,
  freeFiles: 1e6,
  nameBytes: 255,
}

interface Owner {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

interface Node extends Owner {
  readonly type: FileType
  readonly parent: number
  readonly atime: InodeTime
  readonly mtime: InodeTime
  readonly ctime: InodeTime
  readonly links: number
  readonly size: number
  readonly content: Buffer
  readonly names: Map<string, number>
}

/**
 * Files in plain maps that keep nothing: no history, no other process, no disk. What is left of a mounted vault's time
 * without a vault: no server in this language can be faster. It does what the programs here ask for, and no more.
 */
export class ForgetfulFiles implements InodeFs {
  readonly usesGroupCommit = true
  readonly pendingVersion = 0
  readonly #nodes = new Map<number, Node>()
  #next = ROOT + 1

  constructor() {
    this.#nodes.set(ROOT, createNode('directory', ROOT, { mode: 0o755, uid: 0, gid: 0 }))
  }

  batch(work: () => void): void {
    work()
  }

  lookup(parent: number, name: string): number | undefined {
    return this.#at(parent).names.get(name)
  }

  getParent(ino: number): number {
    return this.#at(ino).parent
  }

  getattr(ino: number): InodeAttributes {
    const { type, mode, links: nlink, size, ...others } = this.#at(ino)
    const blocks = Math.ceil(size / BLOCK_BYTES)
    return { ...others, mode: formats[type] | mode, nlink, size, blocks, rdev: 0 }
  }

  setattr(ino: number, { mode, atime, mtime, size, ...owner }: InodeChanges): void {
    const node = this.#at(ino)
    const time = now()
    this.#nodes.set(ino, {
      ...node,
      ...owner,
      mode: (mode ?? node.mode) & PERMISSIONS,
      atime: atime === 'now' ? time : (atime ?? node.atime),
      mtime: mtime === 'now' ? time : (mtime ?? node.mtime),
      ctime: time,
      ...(size !== undefined && { size, content: growBuffer(node, size) }),
    })
  }

  readdir(ino: number, after?: string, limit = 1000): InodeEntry[] {
    const names = [...this.#at(ino).names]
    const start = after === undefined ? 0 : names.findIndex(([name]) => name === after) + 1
    const some = names.slice(start, start + limit)
    return some.map(([name, inode]) => ({ name, inode, type: this.#at(inode).type }))
  }

  create(parent: number, name: string, owner: Owner): number {
    return this.#make(parent, name, createNode('file', parent, owner))
  }

  mkdir(parent: number, name: string, owner: Owner): number {
    return this.#make(parent, name, createNode('directory', parent, owner))
  }

  mknod(parent: number, name: string, owner: Owner): number {
    return this.create(parent, name, owner)
  }

  symlink(parent: number, name: string, target: string, owner: Omit<Owner, 'mode'>): number {
    const content = Buffer.from(target)
    const link = createNode('symlink', parent, { ...owner, mode: 0o777 })
    return this.#make(parent, name, { ...link, content, size: content.length })
  }

  tmpfile(): number {
    throw new VfsError('ENOTSUP', '/', { op: 'create' })
  }

  readlink(ino: number): string {
    return this.#at(ino).content.toString()
  }

  link(ino: number, parent: number, name: string): void {
    const node = this.#at(ino)
    this.#at(parent).names.set(name, ino)
    this.#nodes.set(ino, { ...node, links: node.links + 1 })
  }

  unlink(parent: number, name: string): void {
    const ino = this.#named(parent, name)
    const node = this.#at(ino)
    this.#at(parent).names.delete(name)
    this.#nodes.set(ino, { ...node, links: node.links - 1 })
  }

  rmdir(parent: number, name: string): void {
    if (this.#at(this.#named(parent, name)).names.size > 0)
      throw new VfsError('ENOTEMPTY', name, { op: 'rmdir' })
    this.unlink(parent, name)
  }

  rename(parent: number, name: string, newParent: number, newName: string): void {
    const ino = this.#named(parent, name)
    this.#at(parent).names.delete(name)
    this.#at(newParent).names.set(newName, ino)
    this.#nodes.set(ino, { ...this.#at(ino), parent: newParent })
  }

  open(): void {}

  /** A file without a name is only forgotten here. */
  release(ino: number): void {
    if (this.#nodes.get(ino)?.links === 0) this.#nodes.delete(ino)
  }

  read(ino: number, position: number, length: number): Uint8Array {
    const { content, size } = this.#at(ino)
    return content.subarray(position, Math.min(size, position + length))
  }

  write(ino: number, position: number, bytes: Uint8Array): void {
    const node = this.#at(ino)
    const end = position + bytes.length
    const content = growBuffer(node, end)
    content.set(bytes, position)
    const time = now()
    this.#nodes.set(ino, { ...node, content, size: Math.max(node.size, end), mtime: time, ctime: time })
  }

  append(ino: number, bytes: Uint8Array): number {
    const { size } = this.#at(ino)
    this.write(ino, size, bytes)
    return size
  }

  allocate(): void {}
  punchHole(): void {}
  setxattr(): void {}
  removexattr(): void {}
  commit(): void {}
  fsync(): void {}

  seek(): null {
    return null
  }

  getxattr(): undefined {
    return undefined
  }

  listxattr(): string[] {
    return []
  }

  statfs(): typeof plenty {
    return plenty
  }

  #at(ino: number): Node {
    const node = this.#nodes.get(ino)
    if (node === undefined) throw new VfsError('ENOENT', `inode ${ino}`)
    return node
  }

  #named(parent: number, name: string): number {
    const ino = this.#at(parent).names.get(name)
    if (ino === undefined) throw new VfsError('ENOENT', name)
    return ino
  }

  #make(parent: number, name: string, node: Node): number {
    const { names } = this.#at(parent)
    if (names.has(name)) throw new VfsError('EEXIST', name, { op: 'create' })
    const ino = this.#next++
    names.set(name, ino)
    this.#nodes.set(ino, node)
    return ino
  }
}

function createNode(type: FileType, parent: number, { mode, uid, gid }: Owner): Node {
  const time = now()
  const times = { atime: time, mtime: time, ctime: time }
  const nothing = { links: 1, size: 0, content: Buffer.alloc(0), names: new Map<string, number>() }
  return { type, parent, mode: mode & PERMISSIONS, uid, gid, ...times, ...nothing }
}

function growBuffer({ content, size }: Node, needed: number): Buffer {
  if (needed <= content.length) return content
  const larger = Buffer.alloc(size === 0 ? needed : Math.max(needed, content.length * 2))
  content.copy(larger)
  return larger
}

function now(): InodeTime {
  const time = Date.now()
  const seconds = Math.floor(time / 1000)
  return { seconds, nanos: (time - seconds * 1000) * 1e6 }
}
