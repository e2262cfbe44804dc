import { type BigIntStats, readlinkSync } from 'node:fs'
import { assertLinkTarget, isVfsError } from '../../../vfs/index.ts'
import type { HostDirectory, ListedName } from './host-directory.ts'
import { HostFault } from './host-fault.ts'
import type { HostFile } from './host-file.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { hasAttributes, type TransferAttributes, toTransferAttributes } from './transfer-attributes.ts'
import type { ExistingInode } from './vault-target.ts'

/** A directory in progress, and the position in it. */
export interface ImportLevel {
  readonly path: string
  /** Its relative path with a trailing slash. */
  readonly prefix: string
  readonly names: readonly ListedName[]
  readonly rules: IgnoreRules
  /** The vault's inode at its path. */
  readonly existing: ExistingInode | undefined
  /** The attributes to set after its entries. Undefined for the root, which keeps its own. */
  readonly attributes: TransferAttributes | undefined
  /** Index of the next name. */
  index: number
  /** True if its attributes must be set again: it is new, or got a new name. */
  isTouched: boolean
  /** Another handle of the directory, for files that are read ahead. */
  kept: HostDirectory | undefined
}

/** A name of the machine with the vault's inode at the same path. */
export interface ImportEntry {
  readonly level: ImportLevel
  readonly name: string
  readonly path: string
  readonly relativePath: string
  readonly existing: ExistingInode | undefined
}

export interface ImportEntryWithStats extends ImportEntry {
  readonly stats: BigIntStats
}

export interface LargeFile extends ImportEntry {
  readonly file: HostFile
}

/** Creates a level at its first name. */
export function createLevel(start: Omit<ImportLevel, 'index' | 'isTouched' | 'kept'>): ImportLevel {
  return { ...start, index: 0, isTouched: false, kept: undefined }
}

/** Reports whether the vault has a file with the size and the attributes of one of the machine. */
export function isUnchangedFile(existing: ExistingInode | undefined, stats: BigIntStats): boolean {
  return (
    existing?.inode.type === 'file' &&
    existing.inode.size === Number(stats.size) &&
    hasAttributes(existing.inode, toTransferAttributes(stats))
  )
}

/** Returns the target of a link of the machine. Throws if a vault cannot store it. */
export function readLinkTarget(path: string): string {
  const bytes = readlinkSync(path, { encoding: 'buffer' })
  const target = bytes.toString()
  if (!Buffer.from(target).equals(bytes)) throw new HostFault('EINVAL', 'the target of the link is not UTF-8')
  assertStorable(() => assertLinkTarget(target))
  return target
}

/** Throws rather than replace a whole directory of the vault by a file. */
export function assertNoDirectory(existing: ExistingInode | undefined): void {
  if (existing?.inode.type !== 'directory') return
  throw new HostFault('EISDIR', 'the vault has a directory of this name; remove it there and import again')
}

/** Converts the error for an unstorable path to a fault, so that the entry is skipped. */
export function assertStorable(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw isVfsError(error, 'EINVAL') ? new HostFault('EINVAL', error.message) : error
  }
}

/** Formats a name that is not UTF-8: bytes outside printable ASCII as `\xff`. */
export function escapeBytes(name: Buffer): string {
  const hex = (unit: string) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, '0')}`
  return name.toString('latin1').replaceAll(/[^ -~]/g, hex)
}
