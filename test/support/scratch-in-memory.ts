import { accessSync, constants, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** A file system in memory that Linux has for all users. */
const MEMORY = '/dev/shm'
/** Far more than tests beside the source use at once. */
const NEEDED_BYTES = 2 ** 31
const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url))
const DISK = process.env['COPPICE_TEST_DISK'] ?? tmpdir()

// Tests beside the source keep their files in memory: a disk that is slow to create and remove files takes up to ten
// times as long for the conformance suites. Those in `test` use the disk, as people do.
process.env['COPPICE_TEST_DISK'] = DISK
const isBesideSource = expect.getState().testPath?.startsWith(SOURCE) === true
process.env['TMPDIR'] = isBesideSource && hasRoom() ? MEMORY : DISK

function hasRoom(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > NEEDED_BYTES
  } catch {
    return false
  }
}
