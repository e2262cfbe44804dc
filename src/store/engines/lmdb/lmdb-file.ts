import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const HEADER_BYTES = 24
const META_BYTES = 168
const META_OFFSETS = { pageBytes: 48, free: 88, main: 136, lastPage: 144, transaction: 152 } as const
/** Size of the description of a table, and the offset of its root in it. */
const DATABASE_BYTES = 48
const DATABASE_ROOT = 40
const NODE_BYTES = 8
const MAGIC = 0xbeefc0de
/** Offsets in the header of a page. In that of overflow pages, their number is in place of `lower`. */
const PAGE_FLAGS = 18
const PAGE_LOWER = 20
const PAGE_UPPER = 22
/** Flags of a page. */
const BRANCH = 0x01
const LEAF = 0x02
const OVERFLOW = 0x04
/** Flags of a node. */
const BIG_DATA = 0x01
const SUB_DATABASE = 0x02
/** Page size to read meta pages with if none is valid. */
const DEFAULT_PAGE_BYTES = 4096
/** Root of an empty table. */
const NO_PAGE = 2 ** 52

/** An entry of a table. */
export interface LmdbEntry {
  readonly key: Buffer
  /** Returns the value; undefined if it is outside the file. */
  readonly read: () => Buffer | undefined
  readonly isTable: boolean
}

/** A meta page: one committed state of the file. */
interface LmdbMeta {
  readonly pageBytes: number
  /** Root page of the list of free pages. */
  readonly free: number
  /** Root page of the table of tables. */
  readonly main: number
  readonly lastPage: number
  readonly transaction: number
}

/**
 * The data file of an LMDB environment, read without the library: that trusts its input, and a damaged page kills the
 * process by a signal. Checks each page before use, and reports the damaged ones.
 */
export class LmdbFile implements Disposable {
  readonly #fd: number
  /** Measured after the meta page is read: another process may have extended the file before. */
  readonly #size: number = Number.POSITIVE_INFINITY
  readonly #meta: LmdbMeta | undefined
  readonly #damage: string[] = []
  readonly #maxPages: number
  #pagesRead = 0

  /** @param maxPages limit of table pages to check; all are checked if the file may be truncated. */
  constructor(path: string, maxPages: number = Number.POSITIVE_INFINITY) {
    this.#fd = openSync(path, 'r')
    this.#meta = this.#readMeta()
    this.#size = fstatSync(this.#fd).size
    // A file may end before its last page if that is free; a truncated file looks the same.
    const isShort = this.#meta === undefined || this.#size < (this.#meta.lastPage + 1) * this.#meta.pageBytes
    this.#maxPages = isShort ? Number.POSITIVE_INFINITY : maxPages
    if (this.#meta === undefined) this.#damage.push('its first two pages are damaged')
  }

  /** Damage found so far. */
  get damage(): readonly string[] {
    return this.#damage
  }

  /** True if another process has committed since the file was opened here. It may have reused pages of this state. */
  get isOutdated(): boolean {
    return this.#readMeta()?.transaction !== this.#meta?.transaction
  }

  /** Checks the pages of every table and of the list of free pages, the upper levels first, up to the limit. */
  checkAllPages(): void {
    if (this.#meta === undefined) return
    for (const _ of this.#walkEntries(this.#meta.free));
    for (const { root } of this.listTables()) for (const _ of this.#walkEntries(root));
  }

  /** Lists the named tables with their root pages. */
  listTables(): { readonly name: string; readonly root: number }[] {
    const found: { name: string; root: number }[] = []
    for (const { key, read, isTable } of this.#walkEntries(this.#meta?.main ?? NO_PAGE)) {
      const bytes = isTable ? read() : undefined
      if (bytes === undefined || bytes.length !== DATABASE_BYTES) continue
      // The library ends names with a NUL.
      found.push({ name: key.toString().replace(/\0$/, ''), root: readPageNumber(bytes, DATABASE_ROOT) })
    }
    return found
  }

  /** Yields the entries of a table, in no order. */
  *listEntries(name: string): Generator<LmdbEntry> {
    for (const table of this.listTables()) if (table.name === name) yield* this.#walkEntries(table.root)
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }

  /** Yields the entries of a tree of pages, the upper levels first; reports damaged pages and leaves them out. */
  *#walkEntries(root: number): Generator<LmdbEntry> {
    if (root >= NO_PAGE) return
    const visited = new Set<number>()
    const waiting = [root]
    for (const number of waiting) {
      if (visited.has(number)) this.#reportDamage(`page ${number} is in use twice`)
      if (visited.has(number) || this.#pagesRead++ >= this.#maxPages) continue
      visited.add(number)
      const page = this.#readPage(number)
      if (page === undefined) continue
      for (const node of this.#listNodeOffsets(page, number)) {
        if (isBranch(page)) waiting.push(readChildPage(page, node))
        else yield this.#decodeEntry(page, node)
      }
    }
  }

  /** Returns the offsets of a page's nodes, if all are inside it. */
  #listNodeOffsets(page: Buffer, number: number): number[] {
    const lower = page.readUInt16LE(PAGE_LOWER)
    const offsets = Array.from(
      { length: lower / 2 },
      (_, index) => page.readUInt16LE(HEADER_BYTES + 2 * index) + HEADER_BYTES,
    )
    if (offsets.every((offset) => offset >= HEADER_BYTES + lower && getNodeEnd(page, offset) <= page.length))
      return offsets
    this.#reportDamage(`page ${number} is damaged`)
    return []
  }

  #decodeEntry(page: Buffer, offset: number): LmdbEntry {
    const flags = page.readUInt16LE(offset + 4)
    const start = offset + NODE_BYTES + page.readUInt16LE(offset + 6)
    const size = page.readUInt32LE(offset)
    const key = page.subarray(offset + NODE_BYTES, start)
    const isTable = (flags & SUB_DATABASE) !== 0
    if ((flags & BIG_DATA) === 0) return { key, isTable, read: () => page.subarray(start, start + size) }
    const first = readPageNumber(page, start)
    const isIntact = this.#isOverflow(first, size)
    if (!isIntact) this.#reportDamage(`page ${first} is damaged`)
    const read = () => (isIntact ? this.#readBytes(first * page.length + HEADER_BYTES, size) : undefined)
    return { key, isTable, read }
  }

  /** Reports whether overflow pages for this many bytes start at this page. */
  #isOverflow(number: number, size: number): boolean {
    const pageBytes = this.#meta?.pageBytes ?? DEFAULT_PAGE_BYTES
    const header = this.#readBytes(number * pageBytes, HEADER_BYTES)
    if (header === undefined || readPageNumber(header, 0) !== number) return false
    const capacity = header.readUInt32LE(PAGE_LOWER) * pageBytes
    const isWhole = number * pageBytes + capacity <= this.#size && capacity >= HEADER_BYTES + size
    return (header.readUInt16LE(PAGE_FLAGS) & OVERFLOW) !== 0 && isWhole
  }

  #readPage(number: number): Buffer | undefined {
    const pageBytes = this.#meta?.pageBytes ?? DEFAULT_PAGE_BYTES
    const page = this.#readBytes(number * pageBytes, pageBytes)
    if (page !== undefined && isTablePage(page, number)) return page
    this.#reportDamage(`page ${number} is ${page === undefined ? 'not in the file' : 'damaged'}`)
    return undefined
  }

  #reportDamage(detail: string): void {
    if (!this.#damage.includes(detail)) this.#damage.push(detail)
  }

  /** Reads the newer of the two meta pages; undefined if both are damaged. */
  #readMeta(): LmdbMeta | undefined {
    const first = this.#readMetaAt(0)
    const second = this.#readMetaAt(first?.pageBytes ?? DEFAULT_PAGE_BYTES)
    if (first === undefined || second === undefined) return first ?? second
    return first.transaction > second.transaction ? first : second
  }

  #readMetaAt(start: number): LmdbMeta | undefined {
    const bytes = this.#readBytes(start, META_BYTES)
    if (bytes?.readUInt32LE(HEADER_BYTES) !== MAGIC) return undefined
    const pageBytes = bytes.readUInt32LE(META_OFFSETS.pageBytes)
    if (pageBytes < 512 || pageBytes > 65_536 || pageBytes % 512 !== 0) return undefined
    const [free, main] = [readPageNumber(bytes, META_OFFSETS.free), readPageNumber(bytes, META_OFFSETS.main)]
    return {
      pageBytes,
      free,
      main,
      lastPage: readPageNumber(bytes, META_OFFSETS.lastPage),
      transaction: readPageNumber(bytes, META_OFFSETS.transaction),
    }
  }

  /** Reads bytes of the file; undefined if they exceed it. */
  #readBytes(start: number, length: number): Buffer | undefined {
    if (start + length > this.#size) return undefined
    const bytes = Buffer.alloc(length)
    return readSync(this.#fd, bytes, 0, length, start) === length ? bytes : undefined
  }
}

function isBranch(page: Buffer): boolean {
  return (page.readUInt16LE(PAGE_FLAGS) & BRANCH) !== 0
}

function isTablePage(page: Buffer, number: number): boolean {
  const kind = page.readUInt16LE(PAGE_FLAGS) & (BRANCH | LEAF | OVERFLOW)
  const [lower, upper] = [page.readUInt16LE(PAGE_LOWER), page.readUInt16LE(PAGE_UPPER)]
  const isKnown = (kind === BRANCH || kind === LEAF) && readPageNumber(page, 0) === number
  return isKnown && lower % 2 === 0 && lower <= upper && upper <= page.length - HEADER_BYTES
}

function getNodeEnd(page: Buffer, offset: number): number {
  if (offset + NODE_BYTES > page.length) return Number.POSITIVE_INFINITY
  const end = offset + NODE_BYTES + page.readUInt16LE(offset + 6)
  if (isBranch(page)) return end
  return end + ((page.readUInt16LE(offset + 4) & BIG_DATA) === 0 ? page.readUInt32LE(offset) : 8)
}

function readChildPage(page: Buffer, offset: number): number {
  return page.readUInt32LE(offset) + page.readUInt16LE(offset + 4) * 2 ** 32
}

/** Reads a page number; `NO_PAGE` for any that is at least as large. */
function readPageNumber(bytes: Buffer, offset: number): number {
  return Math.min(Number(bytes.readBigUInt64LE(offset)), NO_PAGE)
}
