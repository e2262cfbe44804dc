import { createHash, randomBytes } from 'node:crypto'
import { ROOT, type TreeFiles } from './tree.ts'

const RECORD = 'user.coppice.link'
const UNDO = '-undo'
const MIRROR = /^link-[0-9a-f]{12}-[0-9a-f]{8}$/

/** What is kept of a fork of a linked directory, in the vault that mirrors what it began from. */
export interface LinkRecord {
  readonly directory: string
  readonly fork: string
  /** Milliseconds since the epoch: when a command last ran in it. */
  readonly used: number
  /** The stage of an apply that has begun, or of an undo, and is not yet wholly done. */
  readonly stage?: string
  readonly isUndo?: true
  readonly keepSetuid?: true
  /** How far it is: the directory has everything; what it had before is kept for an undo. */
  readonly step?: 'written' | 'kept'
  /** Who is about to make it: until then there may be no fork yet, or not all of it. */
  readonly maker?: string
}

/** How the names of all mirrors of a directory begin. */
function mirrorPrefix(directory: string): string {
  return `link-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}-`
}

export function newMirrorName(directory: string): string {
  return mirrorPrefix(directory) + randomBytes(4).toString('hex')
}

/** The vault that keeps what a mirror was before an apply. */
export function undoNameOf(mirror: string): string {
  return mirror + UNDO
}

export function isMirrorOf(directory: string, vault: string): boolean {
  return vault.startsWith(mirrorPrefix(directory)) && !vault.endsWith(UNDO)
}

/** Whether a vault is the mirror of any directory. */
export function isMirror(vault: string): boolean {
  return MIRROR.test(vault)
}

/** The mirror that a vault keeps an undo for; undefined if it is kept for none. */
export function baseOfUndo(vault: string): string | undefined {
  const base = vault.endsWith(UNDO) ? vault.slice(0, -UNDO.length) : undefined
  return base !== undefined && isMirror(base) ? base : undefined
}

export function readRecord(mirror: TreeFiles): LinkRecord | undefined {
  const bytes = mirror.getxattr(ROOT, RECORD)
  if (bytes === undefined) return undefined
  const record: LinkRecord = JSON.parse(Buffer.from(bytes).toString())
  return record
}

export function writeRecord(mirror: TreeFiles, record: LinkRecord): void {
  mirror.setxattr(ROOT, RECORD, Buffer.from(JSON.stringify(record)))
}
