import type { LinkEntry } from './link-entry.ts'

const INDEX = /\/\.git\/(?:(?:worktrees|modules)\/.+\/)?index$/
const MAX_BYTES = 256 * 2 ** 20
const HEADER_BYTES = 12
/** Offsets in an entry of the mode and of the object id. */
const [MODE_AT, ID_AT] = [24, 40]
/** Lengths of SHA-1 and SHA-256 ids. The index does not say which it uses. */
const ID_BYTES = [20, 32] as const
const EXTENDED = 0x4000
const LENGTH_BITS = 0xfff
const NUL = 0

/**
 * Reports whether two states of a Git index list the same files with the same content. `git status` rewrites the
 * index with times and sizes of the working tree, which do not change what is staged.
 */
export function isRefreshedIndex(
  path: string,
  one: LinkEntry | undefined,
  other: LinkEntry | undefined,
): boolean {
  if (!INDEX.test(path) || one?.type !== 'file' || other?.type !== 'file') return false
  if (one.mode !== other.mode || Math.max(one.size, other.size) > MAX_BYTES) return false
  const [left, right] = [listStaged(one), listStaged(other)]
  return left !== undefined && left === right
}

/** Lists the staged files, one line each; undefined if the entry is not a readable index. */
function listStaged(entry: LinkEntry): string | undefined {
  const bytes = Buffer.concat([...entry.content()])
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  for (const idBytes of ID_BYTES) {
    const lines = new IndexReader(bytes, idBytes).lines()
    if (lines !== undefined) return lines.join('\n')
  }
  return undefined
}

/** Reads the entries of an index of version 2, 3 or 4. */
class IndexReader {
  readonly #bytes: Buffer
  readonly #idBytes: number
  readonly #version: number
  #at = HEADER_BYTES
  #path: Buffer = Buffer.alloc(0)

  constructor(bytes: Buffer, idBytes: number) {
    this.#bytes = bytes
    this.#idBytes = idBytes
    this.#version = bytes.readUInt32BE(4)
  }

  /** Returns undefined if the ids have another length. */
  lines(): string[] | undefined {
    if (this.#version < 2 || this.#version > 4) return undefined
    const count = this.#bytes.readUInt32BE(8)
    const lines: string[] = []
    while (lines.length < count) {
      const before = this.#path
      const line = this.#line()
      // Git sorts the entries. A wrong id length breaks the order.
      if (line === undefined || Buffer.compare(before, this.#path) > 0) return undefined
      lines.push(line)
    }
    return lines
  }

  #line(): string | undefined {
    const [start, bytes] = [this.#at, this.#bytes]
    const flagsAt = start + ID_AT + this.#idBytes
    if (flagsAt + 4 > bytes.length) return undefined
    const mode = bytes.readUInt32BE(start + MODE_AT)
    const id = bytes.toString('hex', start + ID_AT, flagsAt)
    const flags = bytes.readUInt16BE(flagsAt)
    const isExtended = (flags & EXTENDED) !== 0
    const more = isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0
    const pathAt = flagsAt + (isExtended ? 4 : 2)
    if (!(this.#version === 4 ? this.#readSuffix(pathAt) : this.#readPath(start, pathAt))) return undefined
    return [mode, id, flags & ~LENGTH_BITS, more, this.#path.toString('latin1')].join(' ')
  }

  /** Reads a path and its padding: one to eight NULs up to a multiple of eight bytes. */
  #readPath(start: number, from: number): boolean {
    const end = this.#bytes.indexOf(NUL, from)
    if (end <= from) return false
    this.#path = this.#bytes.subarray(from, end)
    this.#at = start + (Math.floor((end - start) / 8) + 1) * 8
    return true
  }

  /** Reads a compressed path: the number of bytes to drop from the previous path, then the new rest. */
  #readSuffix(from: number): boolean {
    let at = from
    let byte = this.#bytes[at++] ?? 0
    let dropped = byte & 0x7f
    while ((byte & 0x80) !== 0 && at < this.#bytes.length) {
      byte = this.#bytes[at++] ?? 0
      dropped = (dropped + 1) * 0x80 + (byte & 0x7f)
    }
    const end = this.#bytes.indexOf(NUL, at)
    if (end === -1 || dropped > this.#path.length) return false
    const kept = this.#path.subarray(0, this.#path.length - dropped)
    this.#path = Buffer.concat([kept, this.#bytes.subarray(at, end)])
    this.#at = end + 1
    return true
  }
}
