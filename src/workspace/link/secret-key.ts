import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTemporaryName, isErrno, PRIVATE_FILE_MODE } from '../../machine/index.ts'

const KEY_FILE = 'secret-key'
const KEY_BYTES = 32

/** Returns the key of a home for placeholders; undefined if the home has masked nothing yet. */
export function findSecretKey(home: string | undefined): Uint8Array | undefined {
  try {
    return home === undefined ? undefined : readFileSync(join(home, KEY_FILE))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Returns the key of a home for placeholders, and creates it on first use. */
export function ensureSecretKey(home: string): Uint8Array {
  const known = findSecretKey(home)
  if (known !== undefined) return known
  const temporary = join(home, createTemporaryName())
  const key = randomBytes(KEY_BYTES)
  writeFileSync(temporary, key, { mode: PRIVATE_FILE_MODE, flag: 'wx', flush: true })
  try {
    // Unlike a rename, this keeps the key that another process created meanwhile.
    linkSync(temporary, join(home, KEY_FILE))
    return key
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
    return readFileSync(join(home, KEY_FILE))
  } finally {
    rmSync(temporary, { force: true })
  }
}
