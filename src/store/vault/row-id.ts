import { randomBytes } from 'node:crypto'

const ROW_ID_BYTES = 8
/** Random bytes are dear by the piece: these are for the next hundreds of rows. */
const POOL_BYTES = 512 * ROW_ID_BYTES

let pool: Buffer = Buffer.alloc(0)
let usedBytes = 0

/** Eight random bytes as text, by which a row of the journal is known from every other. */
export function createRowId(): string {
  if (usedBytes === pool.length) {
    pool = randomBytes(POOL_BYTES)
    usedBytes = 0
  }
  usedBytes += ROW_ID_BYTES
  return pool.toString('base64url', usedBytes - ROW_ID_BYTES, usedBytes)
}
