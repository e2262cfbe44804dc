import type { BigIntStats } from 'node:fs'
import { toFileTime, toNanoseconds } from '../../../machine/index.ts'
import type { Timestamp } from '../../../store/index.ts'

const PERMISSIONS = 0o7777n

/** The attributes of a file that are transferred. */
export interface TransferAttributes {
  readonly mode: number
  readonly mtime: Timestamp
}

export function toTransferAttributes(stats: BigIntStats): TransferAttributes {
  return { mode: Number(stats.mode & PERMISSIONS), mtime: toFileTime(stats.mtimeNs) }
}

/** Reports whether a file of the vault has these attributes, within the precision of the machine's times. */
export function hasAttributes(
  found: TransferAttributes | undefined,
  { mode, mtime }: TransferAttributes,
): boolean {
  if (found === undefined) return false
  return (found.mode & Number(PERMISSIONS)) === mode && isSameTime(found.mtime, mtime)
}

/** Node sets times as floating-point seconds, so an exported time differs by up to this much. */
const TOLERANCE_NANOS = 1000n

/** True if two times are equal, within the precision of the machine. */
function isSameTime(one: Timestamp, other: Timestamp): boolean {
  const difference = toNanoseconds(one) - toNanoseconds(other)
  return difference > -TOLERANCE_NANOS && difference < TOLERANCE_NANOS
}
