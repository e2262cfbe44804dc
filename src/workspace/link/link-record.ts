import { computeShortDigest, createRandomBytes } from '../../machine/index.ts'
import { ROOT_INODE, type TreeFiles } from './tree.ts'

const RECORD_XATTR = 'user.coppice.link'
const MIRROR_NAME = /^link-[0-9a-f]{12}-[0-9a-f]{8}$/
/**
 * `undo` keeps a mirror from before the last apply, `merged` what that apply merged; `next` those of an unfinished one.
 * `before-merge` and `after-merge` keep a mirror and its fork around the last merge into it.
 */
const COMPANION_SUFFIXES = [
  '-undo',
  '-undo-next',
  '-merged',
  '-merged-next',
  '-before-merge',
  '-before-merge-fork',
  '-after-merge',
  '-after-merge-fork',
] as const

/** An apply of one or several forks, which is undone as a whole. */
interface ApplyAct {
  readonly id: string
  /** The mirrors of its forks, in the order in which they were applied. */
  readonly mirrors: readonly string[]
}

/** Record of a fork of a linked directory, in the vault that mirrors its base. */
export interface LinkRecord {
  readonly directory: string
  readonly fork: string
  /** Time when a command last ran in it, in milliseconds since the epoch. */
  readonly used: number
  /** The stage of an apply or undo that is not complete yet. */
  readonly stage?: string
  readonly isUndo?: true
  /** Progress: `written` once the directory has every change. */
  readonly step?: 'written'
  /** The mirrors of all forks of the unfinished apply or undo. Only the first of them has the stage. */
  readonly mirrors?: readonly string[]
  /** True if the unfinished apply stores merged paths. */
  readonly hasMerged?: true
  /** The stage of a complete apply or undo that could not be removed. The next command in the directory tries again. */
  readonly leftStage?: string
  /** The last apply of the fork, which `undo` reverts. */
  readonly act?: ApplyAct
  /** The mirror of the fork that this one is a copy of. */
  readonly origin?: string
  /** Process that creates the fork. Until it is done, the fork may be missing or incomplete. */
  readonly maker?: string
  /** True once a second process worked in the fork: it stays, also without changes. */
  readonly isShared?: true
}

/** Returns the common prefix of the names of all mirrors of a directory. */
function getMirrorPrefix(directory: string): string {
  return `link-${computeShortDigest(directory).slice(0, 12)}-`
}

export function createMirrorName(directory: string): string {
  return getMirrorPrefix(directory) + createRandomBytes(4).toString('hex')
}

/** Returns the name of the vault that keeps a mirror's state from before an apply. */
export function getUndoName(mirror: string): string {
  return `${mirror}-undo`
}

/** Returns the name of the vault with the files that the last apply merged, for the first mirror of that apply. */
export function getMergedName(mirror: string): string {
  return `${mirror}-merged`
}

/** States of a fork and its mirror that an undo of a merge needs. */
export interface MergeStateNames {
  readonly mirror: string
  readonly fork: string
}

/** Returns the names of the vaults with the states before or after the last merge into the fork of a mirror. */
export function getMergeStateNames(mirror: string, moment: 'before' | 'after'): MergeStateNames {
  const name = `${mirror}-${moment}-merge`
  return { mirror: name, fork: `${name}-fork` }
}

/** Returns the name that a vault has until the apply which creates it is complete. */
export function getNextName(companion: string): string {
  return `${companion}-next`
}

/** Lists the names of the vaults that may exist beside a mirror. */
export function listCompanionNames(mirror: string): string[] {
  return COMPANION_SUFFIXES.map((suffix) => mirror + suffix)
}

export function isMirrorOf(directory: string, vault: string): boolean {
  return isMirror(vault) && vault.startsWith(getMirrorPrefix(directory))
}

/** True if a vault is the mirror of any directory. */
export function isMirror(vault: string): boolean {
  return MIRROR_NAME.test(vault)
}

/** Returns the mirror of a companion vault; undefined for any other vault. */
export function getMirrorOfCompanion(vault: string): string | undefined {
  const suffix = COMPANION_SUFFIXES.find((each) => vault.endsWith(each))
  const base = suffix === undefined ? undefined : vault.slice(0, -suffix.length)
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

/** Returns the record of a complete fork without its unfinished apply or undo. */
export function clearUnfinished(record: LinkRecord): LinkRecord {
  const { directory, fork, used, act, origin, leftStage, isShared } = record
  return {
    directory,
    fork,
    used,
    ...(isShared === true && { isShared }),
    ...(leftStage !== undefined && { leftStage }),
    ...(act !== undefined && { act }),
    ...(origin !== undefined && { origin }),
  }
}
