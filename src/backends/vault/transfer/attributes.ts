import type { BigIntStats } from 'node:fs'
import { fileTime } from '../../../machine/index.ts'
import type { Time } from '../../../store/index.ts'
import { isSameTime } from './times.ts'

const PERMISSIONS = 0o7777n

/** What is kept of a file beside its content. */
export interface Attributes {
  readonly mode: number
  readonly mtime: Time
}

export function attributesOf(stats: BigIntStats): Attributes {
  return { mode: Number(stats.mode & PERMISSIONS), mtime: fileTime(stats.mtimeNs) }
}

/** Whether a file of the vault has them, as far as a time that went through the machine can tell. */
export function hasAttributes(found: Attributes | undefined, { mode, mtime }: Attributes): boolean {
  if (found === undefined) return false
  return (found.mode & Number(PERMISSIONS)) === mode && isSameTime(found.mtime, mtime)
}
