import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ByteCursor } from '../byte-cursor.ts'
import { computeMaskedCrc32c } from '../crc32c.ts'

const FOOTER_BYTES = 48
const TRAILER_BYTES = 5
const MAGIC = Buffer.from('57fb808b247547db', 'hex')
const SNAPPY = 1
/** More than the store writes into one block: a blob has its own. */
const MAX_BLOCK_BYTES = 256 * 1024 * 1024

/** Offset and size of a block in a table. */
interface BlockHandle {
  readonly offset: number
  readonly size: number
}

/** Verifies the checksum of every block of a LevelDB table; returns the damage. */
export function findTableDamage(path: string): string[] {
  const fd = openSync(path, 'r')
  try {
    const read = (offset: number, length: number) => {
      const bytes = Buffer.alloc(length)
      return readSync(fd, bytes, 0, length, offset) === length ? bytes : undefined
    }
    const { size } = fstatSync(fd)
    const handles = readIndex(read, size)
    if (handles === undefined) return ['its index is damaged']
    const damaged = handles.filter((handle) => !canReadBlock(read, handle, size))
    return damaged.map(({ offset }) => `the block at ${offset} is damaged`)
  } finally {
    closeSync(fd)
  }
}

type ReadRange = (offset: number, length: number) => Buffer | undefined

/** Returns the handles of all blocks but the index; undefined if the index is damaged. */
function readIndex(read: ReadRange, size: number): BlockHandle[] | undefined {
  const footer = size < FOOTER_BYTES ? undefined : read(size - FOOTER_BYTES, FOOTER_BYTES)
  if (footer === undefined || !footer.subarray(-MAGIC.length).equals(MAGIC)) return undefined
  try {
    const cursor = new ByteCursor(footer)
    const meta = readHandle(cursor)
    const index = readBlock(read, readHandle(cursor), size)
    // The Bloom filter: with a damaged one, LevelDB takes keys for missing.
    const filters = readBlock(read, meta, size)
    return index && [meta, ...(filters === undefined ? [] : listHandles(filters)), ...listHandles(index)]
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * Returns the handles in an index block: its values. Its keys are prefix-compressed, and restart points follow them.
 */
function listHandles(index: Buffer): BlockHandle[] {
  const restarts = index.readUInt32LE(index.length - 4)
  const cursor = new ByteCursor(index.subarray(0, index.length - 4 * (restarts + 1)))
  const handles: BlockHandle[] = []
  while (!cursor.isAtEnd) {
    const [, unshared, length] = [cursor.readVarint(), cursor.readVarint(), cursor.readVarint()]
    cursor.readBytes(unshared)
    handles.push(readHandle(new ByteCursor(cursor.readBytes(length))))
  }
  return handles
}

function readHandle(cursor: ByteCursor): BlockHandle {
  return { offset: cursor.readVarint(), size: cursor.readVarint() }
}

/** Reports whether a block can be read: its checksum fits, and it can be decompressed. */
function canReadBlock(read: ReadRange, handle: BlockHandle, fileBytes: number): boolean {
  try {
    return readBlock(read, handle, fileBytes) !== undefined
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Reads a block; undefined if it is damaged. RangeError if it cannot be decompressed. */
function readBlock(read: ReadRange, { offset, size }: BlockHandle, fileBytes: number): Buffer | undefined {
  if (offset + size + TRAILER_BYTES > fileBytes) return undefined
  const bytes = read(offset, size + TRAILER_BYTES)
  if (bytes === undefined) return undefined
  if (computeMaskedCrc32c(bytes.subarray(0, size + 1)) !== bytes.readUInt32LE(size + 1)) return undefined
  const content = bytes.subarray(0, size)
  return bytes[size] === SNAPPY ? decompress(content) : content
}

/** Decompresses Snappy. RangeError if the data is invalid. */
function decompress(packed: Buffer): Buffer {
  const cursor = new ByteCursor(packed)
  const length = cursor.readVarint()
  if (length > MAX_BLOCK_BYTES) throw new RangeError('the block is too large')
  const bytes = Buffer.alloc(length)
  for (let filled = 0; !cursor.isAtEnd; ) {
    const tag = cursor.readFixed(1)
    const kind = tag & 3
    if (kind === 0) {
      const short = tag >> 2
      const count = (short < 60 ? short : cursor.readFixed(short - 59)) + 1
      filled += cursor.readBytes(count).copy(bytes, filled)
      continue
    }
    const count = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
    const offset = kind === 1 ? ((tag >> 5) << 8) + cursor.readFixed(1) : cursor.readFixed(kind === 2 ? 2 : 4)
    if (offset === 0 || offset > filled || filled + count > length)
      throw new RangeError('a copy leads nowhere')
    // A copy may overlap its own output.
    for (let end = filled + count; filled < end; filled++) bytes[filled] = bytes[filled - offset] ?? 0
  }
  return bytes
}
