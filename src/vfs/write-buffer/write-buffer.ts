import { isVfsError, VfsError } from '../error.ts'
import { sha256 } from '../runtime.ts'

/** Limit of the buffer, which is held in memory. */
const MAX_BYTES = 1024 ** 3
const MIN_CAPACITY_BYTES = 4096
/** Number of conflicting writes after which a store fails. */
const MAX_CONFLICTS = 10

/** A change to content: bytes at a position or at the end, or a new size. */
type BufferEdit =
  | { readonly position: number; readonly bytes: Uint8Array }
  | { readonly appended: Uint8Array }
  | { readonly size: number }

/** Storage for a write buffer. */
export interface WriteBufferStore {
  /** Replaces the content if it still has this hash (null: if there is no file). ECONFLICT. */
  write(content: Uint8Array, ifMatch?: string | null): Promise<void>
  /** Returns the current content, or null if there is no file. */
  read(): Promise<Uint8Array | null>
}

/**
 * Buffers changes to a file until they are stored, because file systems replace files as a whole. All-new content
 * replaces the stored file. Edits are applied again to content that another writer stored meanwhile.
 */
export class WriteBuffer {
  #bytes: Uint8Array
  #size: number
  /** Edits of existing content since the last store; undefined if all content is new. */
  #edits: BufferEdit[] | undefined
  /** The hash of the stored content that the edits apply to; undefined if any content may be replaced. */
  #base: string | undefined
  #hasChanged = false

  private constructor(bytes: Uint8Array, edits: BufferEdit[] | undefined) {
    this.#bytes = bytes
    this.#size = bytes.length
    this.#edits = edits
  }

  /** Creates a buffer for existing content and takes ownership of the array. */
  static from(content: Uint8Array): WriteBuffer {
    return new WriteBuffer(content, [])
  }

  /** Creates a buffer that truncates the file. The truncation itself counts as a change to store. */
  static createEmpty(): WriteBuffer {
    const buffer = new WriteBuffer(new Uint8Array(0), undefined)
    buffer.#hasChanged = true
    return buffer
  }

  get size(): number {
    return this.#size
  }

  /** True if there are unsaved changes. */
  get isDirty(): boolean {
    return this.#hasChanged
  }

  /** Returns a copy of a part, clamped to the content. */
  read(position: number, length: number): Uint8Array {
    return this.#bytes.slice(position, Math.min(position + length, this.#size))
  }

  /** Writes bytes at a position and takes ownership of the array. EFBIG if the content exceeds 1 GiB. */
  write(position: number, bytes: Uint8Array): void {
    this.#edit({ position, bytes })
  }

  /** Appends bytes to whatever content is stored at the time of the store, and takes ownership of the array. EFBIG. */
  append(bytes: Uint8Array): void {
    this.#edit({ appended: bytes })
  }

  /** Sets the size. EFBIG. */
  truncate(size: number): void {
    if (size === 0) {
      this.#edits = undefined
      this.#base = undefined
    }
    this.#edit({ size })
  }

  /**
   * Stores the pending changes. After a failure they are still pending and the call can be repeated. Nothing may be
   * changed meanwhile.
   */
  async store(target: WriteBufferStore): Promise<void> {
    for (let conflicts = 0; this.isDirty; ) {
      try {
        await target.write(this.#bytes.subarray(0, this.#size), this.#base)
        this.#hasChanged = false
        this.#edits = []
        this.#base = undefined
      } catch (error) {
        const isConflict = isVfsError(error, 'ECONFLICT') && this.#edits !== undefined
        if (!isConflict || ++conflicts === MAX_CONFLICTS) throw error
        await this.#rebase(target)
      }
    }
  }

  /** Applies the edits again to the content that another writer has stored. */
  async #rebase(target: WriteBufferStore): Promise<void> {
    const content = await target.read()
    if (content === null) {
      // Another writer removed the file: store the whole buffer.
      this.#edits = undefined
      this.#base = undefined
      return
    }
    this.#base = sha256(content)
    this.#bytes = content
    this.#size = content.length
    for (const edit of this.#edits ?? []) this.#apply(edit)
  }

  #edit(edit: BufferEdit): void {
    assertBufferable('/', this.#getEnd(edit))
    if (this.#edits !== undefined) {
      this.#base ??= sha256(this.#bytes.subarray(0, this.#size))
      this.#edits.push(edit)
    }
    this.#hasChanged = true
    this.#apply(edit)
  }

  #apply(edit: BufferEdit): void {
    if ('size' in edit) {
      this.#reserve(edit.size)
      if (edit.size < this.#size) this.#bytes.fill(0, edit.size, this.#size)
      this.#size = edit.size
    } else {
      const end = this.#getEnd(edit)
      this.#reserve(end)
      if ('appended' in edit) this.#bytes.set(edit.appended, this.#size)
      else this.#bytes.set(edit.bytes, edit.position)
      this.#size = Math.max(this.#size, end)
    }
  }

  /** Returns the content length that an edit requires. */
  #getEnd(edit: BufferEdit): number {
    if ('size' in edit) return edit.size
    return 'appended' in edit ? this.#size + edit.appended.length : edit.position + edit.bytes.length
  }

  /** Grows the buffer. All bytes behind the size are zero, so that a gap reads as zeros. */
  #reserve(size: number): void {
    if (size <= this.#bytes.length) return
    const grown = new Uint8Array(
      Math.min(MAX_BYTES, Math.max(size, this.#bytes.length * 2, MIN_CAPACITY_BYTES)),
    )
    grown.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = grown
  }
}

/** Throws EFBIG for a size that is too large to buffer in memory. */
export function assertBufferable(path: string, size: number): void {
  if (size <= MAX_BYTES) return
  const detail = `the file would have ${size} bytes; the limit for a buffered write is ${MAX_BYTES}`
  throw new VfsError('EFBIG', path, { op: 'write', detail })
}
