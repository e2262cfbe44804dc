import type { BigIntStats } from 'node:fs'
import { toFileTime } from '../../../machine/index.ts'
import type { Timestamp } from '../../../store/index.ts'
import { isSameTime } from './is-same-time.ts'

const PERMISSIONS = 0o7777n

/** What is kept of a file beside its content. */
export interface TransferAttributes {
  readonly mode: number
  readonly mtime: Timestamp
}

export function toTransferAttributes(stats: BigIntStats): TransferAttributes {
  return { mode: Number(stats.mode & PERMISSIONS), mtime: toFileTime(stats.mtimeNs) }
}

/** True if a file of the vault has them, within the precision of the machine's times. */
export function hasAttributes(
  found: TransferAttributes | undefined,
  { mode, mtime }: TransferAttributes,
): boolean {
  if (found === undefined) return false
  return (found.mode & Number(PERMISSIONS)) === mode && isSameTime(found.mtime, mtime)
}
