import { randomBytes } from 'node:crypto'

const IDENTITY_BYTES = 8
/** Random bytes are dear by the piece: these are for the next hundreds of rows. */
const POOL_BYTES = 512 * IDENTITY_BYTES

let pool: Buffer = Buffer.alloc(0)
let used = 0

/** Eight random bytes as text, by which a row of the journal is known from every other. */
export function newIdentity(): string {
  if (used === pool.length) {
    pool = randomBytes(POOL_BYTES)
    used = 0
  }
  used += IDENTITY_BYTES
  return pool.toString('base64url', used - IDENTITY_BYTES, used)
}
