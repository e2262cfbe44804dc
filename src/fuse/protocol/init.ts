import { WireError } from './errno.ts'
import type { FuseReply } from './fuse-reply.ts'
import type { FuseRequest } from './fuse-request.ts'

/** The version of the wire's structs as they are read and written here. */
const MAJOR = 7
const MINOR = 38
/** Older kernels lack what keeps their caches right: explicit invalidation came with it. */
const MIN_MINOR = 31
/** The largest a kernel takes without being told by its administrator. */
const MAX_PAGES = 256
export const MAX_WRITE_BYTES: number = MAX_PAGES * 4096
const MAX_BACKGROUND = 64
const CONGESTION = 48
const RESERVED_BYTES = 32

/** What both sides must be able to do to use it. */
const features = {
  asyncRead: 1 << 0,
  /** An `open` empties the file itself, where that is asked for. */
  atomicTruncate: 1 << 3,
  /** A handle of a file that the kernel has forgotten is looked up as `.` in that file's inode. */
  exportSupport: 1 << 4,
  bigWrites: 1 << 5,
  /** Cached content goes when a file turns out to have another time or size. */
  automaticInvalidation: 1 << 12,
  readdirplus: 1 << 13,
  readdirplusAuto: 1 << 14,
  /** An `open` that is answered with ENOSYS is never asked again. */
  noOpen: 1 << 17,
  parallelDirectories: 1 << 18,
  abortError: 1 << 21,
  maxPages: 1 << 22,
  cacheSymlinks: 1 << 23,
  noOpendir: 1 << 24,
  explicitInvalidation: 1 << 25,
  /** The server takes away set-user-id bits where the kernel says so, which then asks for no attributes before a write. */
  killPrivileges: 1 << 28,
} as const

const { atomicTruncate, automaticInvalidation, ...byInode } = features
const { asyncRead, bigWrites, parallelDirectories, abortError, maxPages } = features

/** What a connection is about: inodes of ours, or paths of any file system. */
type Subject = 'inodes' | 'paths'

const wantedFeatures: Readonly<Record<Subject, readonly number[]>> = {
  /** Inodes, of which the kernel may remember and do as much as it can. */
  inodes: Object.values(byInode),
  /** Paths that others change too, without a word: files are opened, and written through. */
  paths: [
    asyncRead,
    atomicTruncate,
    bigWrites,
    automaticInvalidation,
    parallelDirectories,
    abortError,
    maxPages,
  ],
}

/**
 * Answers what a connection begins with. False if the kernel speaks a newer major version: it then asks again in
 * ours. EPROTO for a kernel that is too old.
 */
export function negotiate(request: FuseRequest, reply: FuseReply, about: Subject = 'inodes'): boolean {
  const [major, minor, readahead] = [request.u32(0), request.u32(4), request.u32(8)]
  if (major > MAJOR) {
    putVersion(reply, MINOR)
    reply.zeros(56)
    return false
  }
  if (major < MAJOR || minor < MIN_MINOR) throw new WireError('EPROTO')
  putVersion(reply, Math.min(minor, MINOR))
  reply.u32(readahead)
  reply.u32(request.u32(12) & wantedFeatures[about].reduce((all, bit) => all | bit, 0))
  reply.u16(MAX_BACKGROUND)
  reply.u16(CONGESTION)
  reply.u32(MAX_WRITE_BYTES)
  // Times are kept to the nanosecond.
  reply.u32(1)
  reply.u16(MAX_PAGES)
  reply.u16(0)
  reply.zeros(RESERVED_BYTES)
  return true
}

function putVersion(reply: FuseReply, minor: number): void {
  reply.u32(MAJOR)
  reply.u32(minor)
}
