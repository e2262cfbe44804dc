import { createHash } from 'node:crypto'
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
const [STAGE_BITS, STAGE_SHIFT] = [0x3000, 12]
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
  return readIndex(entry)
    ?.entries.map(({ line }) => line)
    .join('\n')
}

/**
 * Merges the staged files of three states of an index. Returns an index of version 2 or 3; undefined if both changed
 * one file, or if one of them has a form that cannot be merged.
 */
export function mergeIndexes(
  base: LinkEntry | undefined,
  ours: LinkEntry | undefined,
  theirs: LinkEntry | undefined,
): Buffer | undefined {
  const sides = [base, ours, theirs].map((entry) =>
    entry?.type === 'file' && entry.size <= MAX_BYTES ? readIndex(entry) : undefined,
  )
  const [before, mine, their] = sides.map(
    (side) => side && new Map(side.entries.map((each) => [each.key, each])),
  )
  const idBytes = sides[1]?.idBytes
  if (before === undefined || mine === undefined || their === undefined || idBytes === undefined)
    return undefined
  if (sides.some((side) => side?.idBytes !== idBytes || side.hasRequiredExtension)) return undefined
  const merged: IndexEntry[] = []
  for (const key of new Set([...mine.keys(), ...their.keys()])) {
    const [old, own, other] = [before.get(key), mine.get(key), their.get(key)]
    const isOwn = other?.line === old?.line || own?.line === other?.line
    if (!isOwn && own?.line !== old?.line) return undefined
    const entry = isOwn ? own : other
    if (entry !== undefined) merged.push(entry)
  }
  return writeIndex(merged, idBytes)
}

/** One staged file. */
interface IndexEntry {
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

interface GitIndex {
  readonly entries: readonly IndexEntry[]
  readonly idBytes: number
  /** True if the index has an extension without which it cannot be read. */
  readonly hasRequiredExtension: boolean
}

function readIndex(entry: LinkEntry): GitIndex | undefined {
  const bytes = Buffer.concat([...entry.content()])
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  for (const idBytes of ID_BYTES) {
    const index = new IndexReader(bytes, idBytes).read()
    if (index !== undefined) return index
  }
  return undefined
}

function writeIndex(entries: readonly IndexEntry[], idBytes: number): Buffer {
  const sorted = entries.toSorted(
    (one, other) => Buffer.compare(one.path, other.path) || one.stage - other.stage,
  )
  const header = Buffer.alloc(HEADER_BYTES)
  header.write('DIRC', 'latin1')
  header.writeUInt32BE(entries.some(({ isExtended }) => isExtended) ? 3 : 2, 4)
  header.writeUInt32BE(entries.length, 8)
  const body = sorted.map(({ fields, path }) => {
    const length = fields.length + path.length
    return Buffer.concat([fields, path, Buffer.alloc(8 - (length % 8))])
  })
  const content = Buffer.concat([header, ...body])
  const hash = createHash(idBytes === 20 ? 'sha1' : 'sha256')
    .update(content)
    .digest()
  return Buffer.concat([content, hash])
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
