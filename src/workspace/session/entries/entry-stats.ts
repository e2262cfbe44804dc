import { isUtf8 } from 'node:buffer'
import { type BigIntStats, closeSync, constants, lstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { isErrno } from '../../../machine/index.ts'
import type { FileType } from '../../../vfs/index.ts'
import type { SessionChange } from '../command-session.ts'

const PERMISSIONS = 0o7777n
const COMPARE_BYTES = 1024 * 1024
const MAX_PATH_BYTES = process.platform === 'linux' ? 4096 : 1024
const SPARE_BYTES = 128

/** Returns the stats of a path of this machine, or undefined. Does not follow a link at the end. */
export function findEntryStats(path: string): BigIntStats | undefined {
  try {
    // Nothing there is the common case, and an error takes ten times as long.
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    // Below something that is no directory there is nothing, either.
    if (isErrno(error, 'ENOTDIR')) return undefined
    throw error
  }
}

/** A link to what is not UTF-8 is as little to be kept as a name that is not. */
function toFileType(facts: BigIntStats, host: string): FileType {
  if (facts.isFile()) return 'file'
  if (facts.isDirectory()) return 'directory'
  return facts.isSymbolicLink() && isUtf8(readTarget(host)) ? 'symlink' : 'other'
}

function readTarget(host: string): Buffer {
  return readlinkSync(host, { encoding: 'buffer' })
}

/** An entry as a change that puts it there. */
export function createPut(
  path: string,
  host: string,
  facts: BigIntStats,
  linkOf?: string,
): Extract<SessionChange, { kind: 'put' }> {
  return {
    kind: 'put',
    path,
    type: toFileType(facts, host),
    host,
    mode: Number(facts.mode & PERMISSIONS),
    mtimeNs: facts.mtimeNs,
    uid: Number(facts.uid),
    gid: Number(facts.gid),
    ...(linkOf !== undefined && { linkOf }),
  }
}

/** True if a path is too long, or would be in the next session, whose name may be longer. */
export function isTooDeep(path: string): boolean {
  return Buffer.byteLength(path) > MAX_PATH_BYTES - SPARE_BYTES
}

/** A change of something whose name is not UTF-8, by what people may call it, or that is too deep. It cannot be kept. */
export function createUnnameableChange(path: string): SessionChange {
  return { kind: 'put', path, type: 'other', host: '', mode: 0, mtimeNs: 0n, uid: 0, gid: 0 }
}

/** Something that was, or is, at a path, and where it can be read. */
export interface LocatedEntry {
  readonly facts: BigIntStats
  readonly host: string
}

/**
 * Whether nothing was done to an entry: type, permissions, owner, and content or target are the same, and of a file
 * the time. A directory is only itself, without what is in it, and its time follows from that.
 */
export function isUntouched(before: LocatedEntry, now: LocatedEntry): boolean {
  const [one, other] = [before.facts, now.facts]
  if (one.mode !== other.mode || one.uid !== other.uid || one.gid !== other.gid) return false
  if (one.isDirectory()) return true
  if (one.isSymbolicLink()) return readTarget(before.host).equals(readTarget(now.host))
  if (!one.isFile()) return one.rdev === other.rdev
  return one.size === other.size && one.mtimeNs === other.mtimeNs && isSameContent(before.host, now.host)
}

/** Read in full: a program may change a file and set its time back. */
function isSameContent(left: string, right: string): boolean {
  const descriptors: number[] = []
  try {
    for (const path of [left, right]) {
      descriptors.push(openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK))
    }
    const [one = -1, other = -1] = descriptors
    return isSameFrom(one, other)
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
}

function isSameFrom(one: number, other: number): boolean {
  const [left, right] = [Buffer.allocUnsafe(COMPARE_BYTES), Buffer.allocUnsafe(COMPARE_BYTES)]
  for (;;) {
    const length = readSync(one, left, 0, COMPARE_BYTES, null)
    if (length !== readSync(other, right, 0, COMPARE_BYTES, null)) return false
    if (length === 0) return true
    if (!left.subarray(0, length).equals(right.subarray(0, length))) return false
  }
}
