import { computeMaskedCrc32c } from '../crc32c.ts'

const BLOCK_BYTES = 32_768
const HEADER_BYTES = 7
/** Types of the parts of a record: a whole record, its first part, its last part. */
const FULL = 1
const FIRST = 2
const LAST = 4

/** Content of a LevelDB log; the manifest has the same format. */
export interface LevelLog {
  /** Complete records, in order. */
  readonly records: readonly Buffer[]
  /** Offsets of records that were complete once and are damaged now. */
  readonly damagedAt: readonly number[]
}

/**
 * Reads a log and verifies the checksum of every part. Its end may be half a record of an unacknowledged write. Each
 * write is synced before the next, so whatever precedes another record was complete.
 * @param completeBytes number of bytes that are known to have been complete.
 */
export function readLevelLog(bytes: Buffer, completeBytes = 0): LevelLog {
  const [records, damagedAt, parts]: [Buffer[], number[], Buffer[]] = [[], [], []]
  let [suspectAt, offset]: [number | undefined, number] = [undefined, 0]
  while (offset < bytes.length) {
    const left = BLOCK_BYTES - (offset % BLOCK_BYTES)
    const part = left < HEADER_BYTES ? undefined : readPart(bytes, offset, left)
    if (part === undefined) {
      if (left >= HEADER_BYTES) suspectAt ??= offset
      parts.length = 0
      offset += left
      continue
    }
    const { type, content } = part
    const begins = type === FULL || type === FIRST
    if (begins && suspectAt !== undefined) damagedAt.push(suspectAt)
    if (begins) suspectAt = undefined
    if (begins) parts.length = 0
    else if (parts.length === 0) suspectAt ??= offset
    if (begins || parts.length > 0) parts.push(content)
    offset += HEADER_BYTES + content.length
    if ((type === FULL || type === LAST) && parts.length > 0) records.push(Buffer.concat(parts.splice(0)))
  }
  const end = suspectAt ?? (bytes.length < completeBytes || parts.length > 0 ? bytes.length : completeBytes)
  if (end < completeBytes || bytes.length < completeBytes) damagedAt.push(end)
  return { records, damagedAt }
}

/** Reads a part of a record; undefined if it is damaged, or exceeds its block or the file. */
function readPart(
  bytes: Buffer,
  offset: number,
  left: number,
): { type: number; content: Buffer } | undefined {
  if (offset + HEADER_BYTES > bytes.length) return undefined
  const length = bytes.readUInt16LE(offset + 4)
  const type = bytes[offset + 6] ?? 0
  const end = offset + HEADER_BYTES + length
  if (type < FULL || type > LAST || HEADER_BYTES + length > left || end > bytes.length) return undefined
  if (computeMaskedCrc32c(bytes.subarray(offset + 6, end)) !== bytes.readUInt32LE(offset)) return undefined
  return { type, content: bytes.subarray(offset + HEADER_BYTES, end) }
}
