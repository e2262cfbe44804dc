import {
  type Blobs,
  type Files,
  type Inode,
  type Provenance,
  planSize,
  planWrite,
  readContent,
  statOf,
} from '../../store/index.ts'
import {
  type CallContext,
  isVfsError,
  type OpenOptions,
  type SyncFileHandle,
  type SyncStat,
  VfsError,
} from '../../vfs/index.ts'
import { resolved } from './link-free.ts'
import { endOf, type Ground, Opened } from './opened.ts'
import { provenanceOf } from './provenance.ts'

/** Opens the file a path leads to, made or emptied as asked. ENOENT, EISDIR. */
export function openNow(
  ground: Ground,
  path: string,
  { create = false, truncate = false, ...how }: OpenOptions,
  ctx: CallContext | undefined,
): SyncFileHandle {
  const { source } = ground
  const by = provenanceOf(ctx)
  const find = (files: Files) => files.find(resolved(files, path, true, 'open', ctx))
  const look = <T>(see: (files: Files) => T) => ground.blobs.reader.resolveNow(() => see(source.read()))
  if (create && look(find) === undefined) {
    const content = { size: 0, inline: '' }
    source.submitNow(
      (files) => (find(files) === undefined ? { op: 'write', path, content, parents: true } : null),
      by,
    )
  }
  const number = look((files) => {
    const found = find(files)
    if (found === undefined) throw new VfsError('ENOENT', path, { op: 'open' })
    if (files.inode(found).type === 'directory') throw new VfsError('EISDIR', path, { op: 'open' })
    return found
  })
  const handle = new SyncOpenFile(path, ground, number, how, by)
  if (truncate) handle.empty()
  return handle
}

/** What is told of an inode to a caller who asks for everything at once. */
export function syncStatOf(ino: number, inode: Inode, nlink: number = inode.links): SyncStat {
  return { ...statOf(inode), ino, nlink }
}

/** An open file of a vault, for a caller that cannot wait: each change is committed when the call returns. */
class SyncOpenFile implements SyncFileHandle {
  readonly #path: string
  readonly #opened: Opened
  readonly #isWritable: boolean
  readonly #isAppending: boolean
  readonly #by: Provenance
  #last: { readonly blob: number; readonly bytes: Uint8Array } | undefined
  #isClosed = false

  constructor(
    path: string,
    ground: Ground,
    inode: number,
    { write = false, append = false }: OpenOptions,
    by: Provenance,
  ) {
    this.#path = path
    this.#opened = new Opened(path, ground, inode)
    this.#isWritable = write
    this.#isAppending = append
    this.#by = by
  }

  read(position: number, length: number): Uint8Array {
    this.#assertOpen('read')
    assertNumber(this.#path, position, 'read')
    assertNumber(this.#path, length, 'read')
    const pieces = this.#look('read', ({ files, blobs, inode }) => [
      ...readContent(files, inode, this.#keeping(blobs), position, length),
    ])
    // In memory of its own: what the store handed out must never change.
    return new Uint8Array(Buffer.concat(pieces))
  }

  write(position: number, bytes: Uint8Array): void {
    this.#assertWritable('write')
    assertNumber(this.#path, position, 'write')
    this.#change('write', (target) => planWrite(target, this.#isAppending ? endOf(target) : position, bytes))
  }

  truncate(size: number): void {
    this.#assertWritable('truncate')
    this.#resize(size)
  }

  /** What opening with `truncate` does, whether or not it is opened for writing. */
  empty(): void {
    this.#resize(0)
  }

  stat(): SyncStat {
    this.#assertOpen('stat')
    return this.#look('stat', ({ files, inode }) => {
      const { links } = files.inode(inode)
      return syncStatOf(inode, files.inode(inode), this.#opened.isLost ? 0 : links)
    })
  }

  sync(): void {
    this.#assertOpen('sync')
    const { source, blobs } = this.#opened.ground
    source.read()
    blobs.reader.engine.sync()
  }

  close(): void {
    if (!this.#isClosed) this.#opened.close()
    this.#isClosed = true
    this.#last = undefined
  }

  /** The store does not keep chunks of large files at hand, and whoever reads on needs the last one again. */
  #keeping(blobs: Blobs): Pick<Blobs, 'get'> {
    const get: Blobs['get'] = (ref) => {
      if (this.#last?.blob !== ref.blob) this.#last = { blob: ref.blob, bytes: blobs.get(ref) }
      return this.#last.bytes
    }
    return { get }
  }

  #look<T>(op: string, see: (target: ReturnType<Opened['now']>) => T): T {
    return this.#opened.ground.blobs.reader.resolveNow(() => see(this.#opened.now(op)))
  }

  #resize(size: number): void {
    assertNumber(this.#path, size, 'truncate')
    this.#change('truncate', (target) => {
      const inode = target.files.inode(target.inode)
      return inode.size === size ? null : planSize(target, inode, size)
    })
  }

  #change(op: string, decide: Parameters<Opened['plan']>[1]): void {
    const wasLost = this.#opened.isLost
    try {
      this.#opened.ground.source.submitNow(this.#opened.plan(op, decide), this.#by)
    } catch (error) {
      // Somebody has removed it meanwhile: what is left of it takes the change.
      if (wasLost || !isVfsError(error, 'ENOENT')) throw error
      this.#opened.now(op)
      this.#opened.ground.source.submitNow(this.#opened.plan(op, decide), this.#by)
    }
  }

  #assertOpen(op: string): void {
    if (this.#isClosed) throw new VfsError('EBADF', this.#path, { op, detail: 'the file was closed' })
  }

  #assertWritable(op: string): void {
    this.#assertOpen(op)
    if (!this.#isWritable) throw new VfsError('EBADF', this.#path, { op, detail: 'opened for reading only' })
  }
}

function assertNumber(path: string, value: number, op: string): void {
  if (Number.isSafeInteger(value) && value >= 0) return
  throw new VfsError('EINVAL', path, { op, detail: `${value} is not a whole number from 0 on` })
}
