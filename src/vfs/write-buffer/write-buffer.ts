import { createHash } from 'node:crypto'
import { isVfsError, VfsError } from '../error.ts'

/** A draft is in memory: what is larger is not changed this way. */
const MAX_BYTES = 1024 ** 3
const MIN_CAPACITY_BYTES = 4096
/** Number of conflicting commits after which a store fails. */
const MAX_CONFLICTS = 10

/** Something done to content: bytes put at a position or at its end, or a new size. */
type BufferEdit =
  | { readonly position: number; readonly bytes: Uint8Array }
  | { readonly appended: Uint8Array }
  | { readonly size: number }

/** Storage for a write buffer. */
export interface WriteBufferStore {
  /** Replaces the content, if it is still the one with this hash (null: if there is no file). ECONFLICT. */
  write(content: Uint8Array, ifMatch?: string | null): Promise<void>
  /** The content as it is now; null if there is no file. */
  read(): Promise<Uint8Array | null>
}

/**
 * The content of a file that is being changed, until it is stored: file systems replace files as a whole.
 * Content that is all new replaces whatever is there. Edits of a content are made again on what others left meanwhile.
 */
export class WriteBuffer {
  #bytes: Uint8Array
  #size: number
  /** Edits of existing content since the last store; undefined if all content is new. */
  #edits: BufferEdit[] | undefined
  /** The hash of what the edits were made on. */
  #base: string | undefined
  #hasChanged = false

  private constructor(bytes: Uint8Array, edits: BufferEdit[] | undefined) {
    this.#bytes = bytes
    this.#size = bytes.length
    this.#edits = edits
  }

  /** Of content that is there. It is the draft's from now on. */
  static from(content: Uint8Array): WriteBuffer {
    return new WriteBuffer(content, [])
  }

  /** Of a file that is emptied first: that has to be stored, too. */
  static createEmpty(): WriteBuffer {
    const draft = new WriteBuffer(new Uint8Array(0), undefined)
    draft.#hasChanged = true
    return draft
  }

  get size(): number {
    return this.#size
  }

  /** True if there are unsaved changes. */
  get isDirty(): boolean {
    return this.#hasChanged
  }

  /** A copy of a part, clamped to the content. */
  read(position: number, length: number): Uint8Array {
    return this.#bytes.slice(position, Math.min(position + length, this.#size))
  }

  /** EFBIG. The bytes are the draft's from now on. */
  write(position: number, bytes: Uint8Array): void {
    this.#edit({ position, bytes })
  }

  /** Adds to the end of whatever is there when it is stored. EFBIG. The bytes are the draft's from now on. */
  append(bytes: Uint8Array): void {
    this.#edit({ appended: bytes })
  }

  /** EFBIG. */
  truncate(size: number): void {
    if (size === 0) {
      this.#edits = undefined
      this.#base = undefined
    }
    this.#edit({ size })
  }

  /** Stores what is not. If that fails, it is as it was and can be tried again. Nothing may be changed meanwhile. */
  async store(place: WriteBufferStore): Promise<void> {
    for (let conflicts = 0; this.isDirty; ) {
      try {
        await place.write(this.#bytes.subarray(0, this.#size), this.#base)
        this.#hasChanged = false
        this.#edits = []
        this.#base = undefined
      } catch (error) {
        const isOvertaken = isVfsError(error, 'ECONFLICT') && this.#edits !== undefined
        if (!isOvertaken || ++conflicts === MAX_CONFLICTS) throw error
        await this.#rebase(place)
      }
    }
  }

  /** Makes the edits once more, on what somebody else has stored meanwhile. */
  async #rebase(place: WriteBufferStore): Promise<void> {
    const content = await place.read()
    if (content === null) {
      // Removed by somebody else: what is edited here is all there is of it.
      this.#edits = undefined
      this.#base = undefined
      return
    }
    this.#base = hashContent(content)
    this.#bytes = content
    this.#size = content.length
    for (const edit of this.#edits ?? []) this.#apply(edit)
  }

  #edit(edit: BufferEdit): void {
    assertBufferable('/', this.#getEnd(edit))
    if (this.#edits !== undefined) {
      this.#base ??= hashContent(this.#bytes.subarray(0, this.#size))
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

  /** Everything behind the size is zero, so that a gap reads as one. */
  #reserve(size: number): void {
    if (size <= this.#bytes.length) return
    const grown = new Uint8Array(
      Math.min(MAX_BYTES, Math.max(size, this.#bytes.length * 2, MIN_CAPACITY_BYTES)),
    )
    grown.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = grown
  }
}

/** EFBIG for a size that is too large to be kept in memory until it is stored. */
export function assertBufferable(path: string, size: number): void {
  if (size <= MAX_BYTES) return
  const detail = `files up to ${MAX_BYTES} bytes can be changed here, since they are kept in memory meanwhile`
  throw new VfsError('EFBIG', path, { op: 'write', detail })
}

function hashContent(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
