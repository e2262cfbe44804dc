import { isUtf8 } from 'node:buffer'
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { isErrno, toFileTime } from '../../machine/index.ts'
import type { FileType } from '../../vfs/index.ts'
import { type LinkEntry, PERMISSION_BITS } from './link-entry.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const READ_BYTES = 1024 * 1024
const MAX_TRIES = 5
const NO_TARGET = Buffer.alloc(0)

/**
 * Returns the entry at a host path, or undefined. Only links above the path are followed. A link whose target is not
 * UTF-8 has the type `other`, because it could not be recreated.
 * @param content reads the content of a file; by its path when absent.
 */
export function findHostEntry(
  path: string,
  content: LinkEntry['content'] = () => readPath(path),
): LinkEntry | undefined {
  const found = findStatsAndTarget(path)
  if (found === undefined) return undefined
  const { stats, target } = found
  const type = isUtf8(target) ? toFileType(stats) : 'other'
  return {
    type,
    mode: Number(stats.mode) & PERMISSION_BITS,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    mtime: toFileTime(stats.mtimeNs),
    size: type === 'file' ? Number(stats.size) : 0,
    target: type === 'symlink' ? target.toString() : '',
    content,
  }
}

/** Returns the stats at a path, with the target of a link. Looks again if another process replaces a link meanwhile. */
function findStatsAndTarget(
  path: string,
  tries: number = MAX_TRIES,
): { readonly stats: BigIntStats; readonly target: Buffer } | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return undefined
  try {
    return { stats, target: stats.isSymbolicLink() ? readlinkSync(path, { encoding: 'buffer' }) : NO_TARGET }
  } catch (error) {
    if (tries === 1 || !isErrno(error, 'EINVAL', 'ENOENT')) throw error
    return findStatsAndTarget(path, tries - 1)
  }
}

function toFileType(stats: BigIntStats): FileType {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symlink' : 'other'
}

function* readPath(path: string): Generator<Uint8Array> {
  const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    yield* readDescriptor(fd)
  } finally {
    closeSync(fd)
  }
}

/** Reads an open file from its current position. */
export function* readDescriptor(fd: number): Generator<Uint8Array> {
  // One byte more than expected: if it stays empty, the file ends without another large buffer.
  let expected = fstatSync(fd).size + 1
  for (;;) {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, Math.max(expected, 1)))
    const length = readSync(fd, buffer, 0, buffer.length, null)
    if (length > 0) yield buffer.subarray(0, length)
    if (length < buffer.length) return
    expected -= length
  }
}
