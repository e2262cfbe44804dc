import { randomBytes } from 'node:crypto'

const ROW_ID_BYTES = 8
/** Random bytes are expensive one by one: a pool serves hundreds of rows. */
const POOL_BYTES = 512 * ROW_ID_BYTES

let pool: Buffer = Buffer.alloc(0)
let usedBytes = 0

/** Creates a row id: eight random bytes as text. */
export function createRowId(): string {
  if (usedBytes === pool.length) {
    pool = randomBytes(POOL_BYTES)
    usedBytes = 0
  }
  usedBytes += ROW_ID_BYTES
  return pool.toString('base64url', usedBytes - ROW_ID_BYTES, usedBytes)
}
