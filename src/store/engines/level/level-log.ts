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
  let [suspectAt, beginsAt, offset]: [number | undefined, number, number] = [undefined, 0, 0]
  while (offset < bytes.length) {
    const left = BLOCK_BYTES - (offset % BLOCK_BYTES)
    const part = readPart(bytes, offset, left)
    if (part?.content === undefined) {
      if (left >= HEADER_BYTES) suspectAt ??= parts.length > 0 ? beginsAt : offset
      parts.length = 0
      offset += part?.bytes ?? left
      continue
    }
    const { type, content } = part
    const begins = type === FULL || type === FIRST
    // A record without its end is no end of the file: another one follows.
    if (begins && parts.length > 0) suspectAt ??= beginsAt
    if (begins && suspectAt !== undefined) damagedAt.push(suspectAt)
    if (begins) [suspectAt, beginsAt, parts.length] = [undefined, offset, 0]
    else if (parts.length === 0) suspectAt ??= offset
    if (begins || parts.length > 0) parts.push(content)
    offset += part.bytes
    if ((type === FULL || type === LAST) && parts.length > 0) records.push(Buffer.concat(parts.splice(0)))
  }
  const end = suspectAt ?? (bytes.length < completeBytes || parts.length > 0 ? bytes.length : completeBytes)
  if (end < completeBytes || bytes.length < completeBytes) damagedAt.push(end)
  return { records, damagedAt }
}

/** A part of a record, with its header. The content is missing if it is damaged. */
interface LogPart {
  readonly type: number
  readonly bytes: number
  readonly content: Buffer | undefined
}

/**
 * Reads a part of a record; undefined if it exceeds its block or the file. A damaged part may have the right length, so
 * that the next one is found behind it.
 */
function readPart(bytes: Buffer, offset: number, left: number): LogPart | undefined {
  if (left < HEADER_BYTES || offset + HEADER_BYTES > bytes.length) return undefined
  const length = bytes.readUInt16LE(offset + 4)
  const type = bytes[offset + 6] ?? 0
  const end = offset + HEADER_BYTES + length
  if (HEADER_BYTES + length > left || end > bytes.length) return undefined
  const hasType = type >= FULL && type <= LAST
  const isWhole =
    hasType && computeMaskedCrc32c(bytes.subarray(offset + 6, end)) === bytes.readUInt32LE(offset)
  const content = isWhole ? bytes.subarray(offset + HEADER_BYTES, end) : undefined
  return { type, bytes: HEADER_BYTES + length, content }
}
