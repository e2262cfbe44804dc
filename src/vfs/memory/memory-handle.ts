import { assertCount, assertHandleWrite } from '../assert-handle-call.ts'
import { VfsError } from '../error.ts'
import { Slab } from '../slab.ts'
import type { SyncFileHandle, SyncStat } from '../sync-file-system.ts'
import { type MemoryContent, patchContent, resizeContent } from './memory-content.ts'
import { createFileNode, toStat } from './nodes.ts'
import type { OpenMemoryFile } from './open-files.ts'

const outputSlab = Slab.forReturned()

/** State of a handle, and the parts of its file system that it uses. */
export interface MemoryHandleOptions {
  readonly path: string
  readonly isWritable: boolean
  /** Writes go to the end, whatever position they name. */
  readonly isAppending: boolean
  readonly now: () => number
  /** Token of the in-place writer, shared by all handles; replaced once others may see the content. */
  readonly writer: () => object
  readonly close: () => void
}

/** An open file of a `MemoryFs`. */
export class MemoryHandle implements SyncFileHandle {
  readonly #file: OpenMemoryFile
  readonly #parts: MemoryHandleOptions
  #isClosed = false

  constructor(file: OpenMemoryFile, parts: MemoryHandleOptions) {
    this.#file = file
    this.#parts = parts
  }

  read(position: number, length: number): Uint8Array {
    this.#assertOpen('read')
    assertCount(this.#parts.path, position, 'read')
    assertCount(this.#parts.path, length, 'read')
    return outputSlab.copy(this.#file.node.content.bytes.subarray(position, position + length))
  }

  write(position: number, bytes: Uint8Array): void {
    this.#assertWritable('write')
    assertHandleWrite(this.#parts.path, position, bytes)
    if (bytes.length === 0) return
    const { isAppending } = this.#parts
    this.#change('write', (content, writer) =>
      patchContent(content, isAppending ? content.bytes.length : position, bytes, writer),
    )
  }

  truncate(size: number): void {
    this.#assertWritable('truncate')
    assertCount(this.#parts.path, size, 'truncate')
    this.#change('truncate', (content, writer) => resizeContent(content, size, writer))
  }

  /** Truncates at open, whatever the access mode. */
  empty(): void {
    this.#change('truncate', (content, writer) => resizeContent(content, 0, writer))
  }

  stat(): SyncStat {
    this.#assertOpen('stat')
    const { node, nlink } = this.#file
    return { ...toStat(node), ino: node.ino, nlink }
  }

  sync(): void {
    this.#assertOpen('sync')
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#parts.close()
  }

  #change(op: string, next: (content: MemoryContent, writer: object) => MemoryContent): void {
    const { node } = this.#file
    const content = this.#createIfFits(op, () => next(node.content, this.#parts.writer()))
    this.#file.replace(createFileNode(node.ino, content, this.#parts.now(), node.mode))
  }

  /** Throws EFBIG if the content exceeds memory, which typed arrays report as a RangeError. */
  #createIfFits(op: string, create: () => MemoryContent): MemoryContent {
    try {
      return create()
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      const detail = 'the file would not fit into memory; use a file system on disk'
      throw new VfsError('EFBIG', this.#parts.path, { op, detail, cause: error })
    }
  }

  #assertOpen(op: string): void {
    if (!this.#isClosed) return
    throw new VfsError('EBADF', this.#parts.path, { op, detail: 'the handle is closed; open the file again' })
  }

  #assertWritable(op: string): void {
    this.#assertOpen(op)
    if (this.#parts.isWritable) return
    throw new VfsError('EBADF', this.#parts.path, {
      op,
      detail: 'the file is open for reading only; open it with write: true',
    })
  }
}
