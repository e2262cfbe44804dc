import type { Counters } from '../tree/counters.ts'
import type { VaultQuota } from '../vault/vault-quota.ts'
import { MAX_NAME_BYTES } from './assert-names.ts'
import type { StatfsReport } from './posix-attributes.ts'

const BLOCK_BYTES = 4096
/** Reported as free if neither a quota nor a disk sets a limit. */
const UNLIMITED_BYTES = 2 ** 42
const UNLIMITED_FILES = 2 ** 32

/**
 * Reports usage and free space, by the quota and the disk.
 * @param diskFreeBytes free bytes of the disk below the store.
 */
export function toStatfsReport(
  { files, bytes }: Counters,
  quota: VaultQuota,
  diskFreeBytes: number = UNLIMITED_BYTES,
): StatfsReport {
  const used = Math.ceil(bytes / BLOCK_BYTES)
  const allowed = quota.bytes === undefined ? UNLIMITED_BYTES : Math.max(0, quota.bytes - bytes)
  const freeBytes = Math.min(allowed, diskFreeBytes)
  const freeFiles = quota.files === undefined ? UNLIMITED_FILES : Math.max(0, quota.files - files)
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
