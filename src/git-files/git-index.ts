const HEADER_BYTES = 12
/** Offsets in an entry of the mode and of the object id. */
const [MODE_AT, ID_AT] = [24, 40]
/** Lengths of SHA-1 and SHA-256 ids. The index does not say which it uses. */
const ID_BYTES = [20, 32] as const
const EXTENDED = 0x4000
const LENGTH_BITS = 0xfff
const [STAGE_BITS, STAGE_SHIFT] = [0x3000, 12]
const NUL = 0

/** One staged file. */
export interface IndexEntry {
  /** Path and stage. */
  readonly key: string
  /** Everything that is staged: mode, id, flags and path. */
  readonly line: string
  readonly path: Buffer
  readonly stage: number
  /** Times, owner, mode, size, id and flags, as they are stored. */
  readonly fields: Buffer
  readonly isExtended: boolean
}

/** The staged files of an index. */
export interface GitIndex {
  readonly entries: readonly IndexEntry[]
  readonly idBytes: number
  /** True if the index has an extension without which it cannot be read. */
  readonly hasRequiredExtension: boolean
}

/**
 * Reports whether two indexes list the same files with the same content. `git status` rewrites the index with times
 * and sizes of the working tree, which do not change what is staged.
 */
export function isSameStaging(one: Buffer, other: Buffer): boolean {
  const [left, right] = [listStaged(one), listStaged(other)]
  return left !== undefined && left === right
}

/** Lists the staged files, one line each; undefined if the bytes are no readable index. */
function listStaged(bytes: Buffer): string | undefined {
  return readIndex(bytes)
    ?.entries.map(({ line }) => line)
    .join('\n')
}

/** Reads an index; undefined if the bytes are none. */
export function readIndex(bytes: Buffer): GitIndex | undefined {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  for (const idBytes of ID_BYTES) {
    const index = new IndexReader(bytes, idBytes).read()
    if (index !== undefined) return index
  }
  return undefined
}

/** Reads the entries of an index of version 2, 3 or 4. */
class IndexReader {
  readonly #bytes: Buffer
  readonly #idBytes: number
  readonly #version: number
  #position = HEADER_BYTES
  #path: Buffer = Buffer.alloc(0)

  constructor(bytes: Buffer, idBytes: number) {
    this.#bytes = bytes
    this.#idBytes = idBytes
    this.#version = bytes.readUInt32BE(4)
  }

  /** Returns undefined if the ids have another length, or the version is unknown. */
  read(): GitIndex | undefined {
    if (this.#version < 2 || this.#version > 4) return undefined
    const count = this.#bytes.readUInt32BE(8)
    const entries: IndexEntry[] = []
    while (entries.length < count) {
      const before = this.#path
      const entry = this.#readEntry()
      // Git sorts the entries. A wrong id length breaks the order.
      if (entry === undefined || Buffer.compare(before, this.#path) > 0) return undefined
      entries.push(entry)
    }
    return { entries, idBytes: this.#idBytes, hasRequiredExtension: this.#hasRequiredExtension() }
  }

  /** True if an extension must not be skipped: the name of one that may be begins with a capital letter. */
  #hasRequiredExtension(): boolean {
    for (let start = this.#position; start + 8 <= this.#bytes.length - this.#idBytes; ) {
      if (/^[^A-Z]/.test(this.#bytes.toString('latin1', start, start + 4))) return true
      start += 8 + this.#bytes.readUInt32BE(start + 4)
    }
    return false
  }

  #readEntry(): IndexEntry | undefined {
    const [start, bytes] = [this.#position, this.#bytes]
    const flagsAt = start + ID_AT + this.#idBytes
    if (flagsAt + 4 > bytes.length) return undefined
    const mode = bytes.readUInt32BE(start + MODE_AT)
    const id = bytes.toString('hex', start + ID_AT, flagsAt)
    const flags = bytes.readUInt16BE(flagsAt)
    const isExtended = (flags & EXTENDED) !== 0
    const more = isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0
    const pathAt = flagsAt + (isExtended ? 4 : 2)
    if (!(this.#version === 4 ? this.#readSuffix(pathAt) : this.#readPath(start, pathAt))) return undefined
    const path = this.#path.toString('latin1')
    const stage = (flags & STAGE_BITS) >> STAGE_SHIFT
    const fields = Buffer.from(bytes.subarray(start, pathAt))
    return {
      key: `${path}\0${stage}`,
      line: [mode, id, flags & ~LENGTH_BITS, more, path].join(' '),
      path: this.#path,
      stage,
      fields,
      isExtended,
    }
  }

  /** Reads a path and its padding: one to eight NULs up to a multiple of eight bytes. */
  #readPath(start: number, from: number): boolean {
    const end = this.#bytes.indexOf(NUL, from)
    if (end <= from) return false
    this.#path = this.#bytes.subarray(from, end)
    this.#position = start + (Math.floor((end - start) / 8) + 1) * 8
    return true
  }

  /** Reads a compressed path: the number of bytes to drop from the previous path, then the new rest. */
  #readSuffix(from: number): boolean {
    let start = from
    let byte = this.#bytes[start++] ?? 0
    let dropped = byte & 0x7f
    while ((byte & 0x80) !== 0 && start < this.#bytes.length) {
      byte = this.#bytes[start++] ?? 0
      dropped = (dropped + 1) * 0x80 + (byte & 0x7f)
    }
    const end = this.#bytes.indexOf(NUL, start)
    if (end === -1 || dropped > this.#path.length) return false
    const kept = this.#path.subarray(0, this.#path.length - dropped)
    this.#path = Buffer.concat([kept, this.#bytes.subarray(start, end)])
    this.#position = end + 1
    return true
  }
}
