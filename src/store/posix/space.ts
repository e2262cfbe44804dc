import type { Counters } from '../tree/counters.ts'
import type { Quota } from '../vault/quota.ts'
import type { SpaceReport } from './attributes.ts'
import { MAX_NAME_BYTES } from './names.ts'

const BLOCK_BYTES = 4096
/** Said to be free where neither a quota nor a disk sets a limit: enough for any program that asks first. */
const PLENTY_OF_BYTES = 2 ** 42
const PLENTY_OF_FILES = 2 ** 32

/** @param roomLeft what the disk below still has. */
export function spaceOf(
  { files, bytes }: Counters,
  quota: Quota,
  roomLeft: number = PLENTY_OF_BYTES,
): SpaceReport {
  const used = Math.ceil(bytes / BLOCK_BYTES)
  const allowed = quota.bytes === undefined ? PLENTY_OF_BYTES : Math.max(0, quota.bytes - bytes)
  const freeBytes = Math.min(allowed, roomLeft)
  const freeFiles = quota.files === undefined ? PLENTY_OF_FILES : Math.max(0, quota.files - files)
  const freeBlocks = Math.floor(freeBytes / BLOCK_BYTES)
  return {
    blockSize: BLOCK_BYTES,
    blocks: used + freeBlocks,
    freeBlocks,
    files: files + freeFiles,
    freeFiles,
    nameBytes: MAX_NAME_BYTES,
  }
}
