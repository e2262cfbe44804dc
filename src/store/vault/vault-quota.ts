import { VfsError } from '../../vfs/index.ts'
import type { FileOperation } from '../files/operation.ts'
import type { Counters } from '../tree/counters.ts'

/** Limits of a vault; an absent limit does not apply. */
export interface VaultQuota {
  /** Limit for the sum of all file sizes, whether or not bytes are shared. */
  readonly bytes?: number
  /** Limit for the number of files and links; directories do not count. */
  readonly files?: number
  /** Limit for the size of each file. */
  readonly fileSize?: number
}

export function quotaKey(vault: number): string {
  return `quota/${vault}`
}

/**
 * ENOSPC if an operation exceeds the vault's quota. What does not add bytes or files is within those limits; that of
 * a file applies to every file that is written.
 */
export function assertWithinQuota(
  { bytes, files, fileSize }: VaultQuota,
  operation: FileOperation,
  before: Counters,
  after: Counters,
): void {
  const { path, op } = operation
  const refuse = (detail: string) => {
    throw new VfsError('ENOSPC', path, { op, detail })
  }
  if (bytes !== undefined && after.bytes > bytes && after.bytes > before.bytes) {
    refuse(
      `the vault would hold ${after.bytes} bytes, its quota is ${bytes}; remove files or raise the quota`,
    )
  }
  if (files !== undefined && after.files > files && after.files > before.files) {
    refuse(
      `the vault would hold ${after.files} files, its quota is ${files}; remove files or raise the quota`,
    )
  }
  const largest = getLargestFileSize(operation)
  if (fileSize !== undefined && largest > fileSize) {
    refuse(
      `the file would have ${largest} bytes, the quota allows ${fileSize} a file; raise it or split the file`,
    )
  }
}

/** Returns the size of the largest file an operation writes. */
function getLargestFileSize(operation: FileOperation): number {
  if (operation.op === 'write' || operation.op === 'revert') return operation.content.size
  if (operation.op === 'create') return operation.content?.size ?? 0
  if (operation.op === 'extend' || operation.op === 'patch') return operation.size
  if (operation.op === 'merge' || operation.op === 'batch')
    return operation.operations.reduce((largest, step) => Math.max(largest, getLargestFileSize(step)), 0)
  return 0
}
