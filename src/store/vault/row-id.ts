import { createRandomBytes } from '../../machine/index.ts'

/** Characters of a row id: eight bytes in base64url. */
const ROW_ID_LENGTH = 11
/** Bytes from which one id is cut: twelve characters, so that ids begin at whole characters of the pool. */
const ROW_ID_POOL_BYTES = 9
const POOLED_CHARACTERS = 12
/** Random bytes, and text from bytes, are expensive one by one: a pool serves hundreds of rows. */
const POOL_BYTES = 512 * ROW_ID_POOL_BYTES
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
/** The last character of eight bytes has four bits of them; its other two are zero. */
const LAST_CHARACTERS: ReadonlyMap<string, string> = new Map(
  Array.from(ALPHABET, (character, value) => [character, ALPHABET.charAt(value & ~3)]),
)

let pool = ''
let used = 0

/** Creates a row id: eight random bytes as text. */
export function createRowId(): string {
  if (used === pool.length) {
    pool = createRandomBytes(POOL_BYTES).toString('base64url')
    used = 0
  }
  const start = used
  used += POOLED_CHARACTERS
  const last = start + ROW_ID_LENGTH - 1
  return pool.slice(start, last) + LAST_CHARACTERS.get(pool.charAt(last))
}
