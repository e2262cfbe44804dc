import type { Counters } from '../tree/counters.ts'
import type { Quota } from '../vault/quota.ts'
import type { SpaceReport } from './attributes.ts'
import { MAX_NAME_BYTES } from './names.ts'

const BLOCK_BYTES = 4096
/** Told as free where no quota says otherwise: enough for any program that asks first. */
const PLENTY_OF_BYTES = 2 ** 42
const PLENTY_OF_FILES = 2 ** 32

export function spaceOf({ files, bytes }: Counters, quota: Quota): SpaceReport {
  const used = Math.ceil(bytes / BLOCK_BYTES)
  const freeBytes = quota.bytes === undefined ? PLENTY_OF_BYTES : Math.max(0, quota.bytes - bytes)
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
