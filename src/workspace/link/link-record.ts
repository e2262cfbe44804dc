import { createHash, randomBytes } from 'node:crypto'
import { ROOT_INODE, type TreeFiles } from './tree.ts'

const RECORD_XATTR = 'user.coppice.link'
const UNDO_SUFFIX = '-undo'
const MIRROR_NAME = /^link-[0-9a-f]{12}-[0-9a-f]{8}$/

/** Record of a fork of a linked directory, in the vault that mirrors its base. */
export interface LinkRecord {
  readonly directory: string
  readonly fork: string
  /** Time when a command last ran in it, in milliseconds since the epoch. */
  readonly used: number
  /** The stage of an apply or undo that is not complete yet. */
  readonly stage?: string
  readonly isUndo?: true
  readonly keepSetuid?: true
  /** Progress: `written` once the directory has every change, `kept` once the earlier state is kept for an undo. */
  readonly step?: 'written' | 'kept'
  /** Process that creates the fork. Until it is done, the fork may be missing or incomplete. */
  readonly maker?: string
}

/** Returns the common prefix of the names of all mirrors of a directory. */
function getMirrorPrefix(directory: string): string {
  return `link-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}-`
}

export function createMirrorName(directory: string): string {
  return getMirrorPrefix(directory) + randomBytes(4).toString('hex')
}

/** Returns the name of the vault that keeps a mirror's state from before an apply. */
export function getUndoName(mirror: string): string {
  return mirror + UNDO_SUFFIX
}

export function isMirrorOf(directory: string, vault: string): boolean {
  return vault.startsWith(getMirrorPrefix(directory)) && !vault.endsWith(UNDO_SUFFIX)
}

/** True if a vault is the mirror of any directory. */
export function isMirror(vault: string): boolean {
  return MIRROR_NAME.test(vault)
}

/** Returns the mirror for which a vault keeps an undo; undefined for any other vault. */
export function findUndoMirror(vault: string): string | undefined {
  const base = vault.endsWith(UNDO_SUFFIX) ? vault.slice(0, -UNDO_SUFFIX.length) : undefined
  return base !== undefined && isMirror(base) ? base : undefined
}

export function readRecord(mirror: TreeFiles): LinkRecord | undefined {
  const bytes = mirror.getxattr(ROOT_INODE, RECORD_XATTR)
  if (bytes === undefined) return undefined
  const record: LinkRecord = JSON.parse(Buffer.from(bytes).toString())
  return record
}

export function writeRecord(mirror: TreeFiles, record: LinkRecord): void {
  mirror.setxattr(ROOT_INODE, RECORD_XATTR, Buffer.from(JSON.stringify(record)))
}
