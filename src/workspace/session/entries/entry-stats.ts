import { isUtf8 } from 'node:buffer'
import { type BigIntStats, closeSync, constants, lstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { isErrno } from '../../../machine/index.ts'
import type { FileType } from '../../../vfs/index.ts'
import type { SessionChange } from '../command-session.ts'

const PERMISSIONS = 0o7777n
const COMPARE_BYTES = 1024 * 1024
const MAX_PATH_BYTES = process.platform === 'linux' ? 4096 : 1024
const SPARE_BYTES = 128
/** Errors of a read of an entry that is missing, closed to this user, or of another type. */
const NO_SUCH_BASE = ['ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP', 'EINVAL', 'EISDIR', 'ENXIO'] as const

/** Returns the stats of a path of this machine, or undefined. Does not follow a link at the end. */
export function findEntryStats(path: string): BigIntStats | undefined {
  try {
    // A missing entry is common, and an error takes ten times as long.
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    // A path below a file does not exist, either.
    if (isErrno(error, 'ENOTDIR')) return undefined
    throw error
  }
}

/** Returns the type; `other` for a link whose target is not UTF-8, since that cannot be stored. */
function toFileType(stats: BigIntStats, host: string): FileType {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() && isUtf8(readTarget(host)) ? 'symlink' : 'other'
}

function readTarget(host: string): Buffer {
  return readlinkSync(host, { encoding: 'buffer' })
}

/** Creates the change that puts an entry at a path. */
export function createPut(
  path: string,
  host: string,
  stats: BigIntStats,
  linkOf?: string,
): Extract<SessionChange, { kind: 'put' }> {
  return {
    kind: 'put',
    path,
    type: toFileType(stats, host),
    host,
    mode: Number(stats.mode & PERMISSIONS),
    mtimeNs: stats.mtimeNs,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    ...(linkOf !== undefined && { linkOf }),
  }
}

/** True if a path is too long, or would be in the next session, whose name may be longer. */
export function isTooDeep(path: string): boolean {
  return Buffer.byteLength(path) > MAX_PATH_BYTES - SPARE_BYTES
}

/** Creates a change of type `other` for an entry that cannot be stored: not UTF-8, too deep, or at a hidden path. */
export function createUnstorableChange(path: string): SessionChange {
  return { kind: 'put', path, type: 'other', host: '', mode: 0, mtimeNs: 0n, uid: 0, gid: 0 }
}

/** Stats of an entry that show whether it was changed. */
export type ComparedStats = Pick<
  BigIntStats,
  | 'ino'
  | 'mode'
  | 'uid'
  | 'gid'
  | 'rdev'
  | 'size'
  | 'mtimeNs'
  | 'ctimeNs'
  | 'isFile'
  | 'isDirectory'
  | 'isSymbolicLink'
>

/** Stats of an entry, and its path on this machine. */
export interface LocatedEntry {
  readonly stats: ComparedStats
  readonly host: string
}

/**
 * True if type, permissions, owner, content or target, and for a file the time, are the same. Compares no entries of a
 * directory, and not its time, which follows from them.
 */
export function isUntouched(before: LocatedEntry, current: LocatedEntry): boolean {
  const [one, other] = [before.stats, current.stats]
  if (one.mode !== other.mode || one.uid !== other.uid || one.gid !== other.gid) return false
  if (one.isDirectory()) return true
  if (one.isSymbolicLink()) return isSameTarget(before.host, current.host)
  if (!one.isFile()) return one.rdev === other.rdev
  return one.size === other.size && one.mtimeNs === other.mtimeNs && isSameContent(before.host, current.host)
}

function isSameTarget(before: string, current: string): boolean {
  return tryReadBase(() => readTarget(before))?.equals(readTarget(current)) === true
}

/** Compares all bytes: a program may change a file and set its time back. */
function isSameContent(before: string, current: string): boolean {
  return withFile(
    current,
    (other) => tryReadBase(() => withFile(before, (one) => isSameFrom(one, other))) === true,
  )
}

function withFile<Result>(path: string, read: (descriptor: number) => Result): Result {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return read(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Returns the result of a read of an entry as it was before; undefined if the user has removed, replaced or closed it since
 * its stats were read. A killed command is compared with what the directory has much later.
 */
function tryReadBase<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch (error) {
    if (isErrno(error, ...NO_SUCH_BASE)) return undefined
    throw error
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
