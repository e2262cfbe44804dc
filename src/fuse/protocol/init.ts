import { WireError } from './errno.ts'
import type { FuseReply } from './fuse-reply.ts'
import type { FuseRequest } from './fuse-request.ts'

/** Protocol version of the structs in this folder. */
const MAJOR = 7
const MINOR = 38
/**
 * Older kernels lack explicit invalidation, without which their caches are not consistent, or the flag of a write that
 * must clear set-user-id.
 */
const MIN_MINOR = 31
/** Largest value that a kernel accepts with default settings. */
const MAX_PAGES = 256
export const MAX_WRITE_BYTES: number = MAX_PAGES * 4096
const MAX_BACKGROUND = 64
const CONGESTION = 48
const RESERVED_BYTES = 32

/** Feature flags; both sides must support a feature to use it. */
const features = {
  asyncRead: 1 << 0,
  /** `open` truncates the file itself. */
  atomicTruncate: 1 << 3,
  /** The kernel resolves a file handle that it has forgotten by looking up `.` in that inode. */
  exportSupport: 1 << 4,
  bigWrites: 1 << 5,
  /** The kernel drops cached content when the time or size of a file changes. */
  automaticInvalidation: 1 << 12,
  readdirplus: 1 << 13,
  readdirplusAuto: 1 << 14,
  /** The kernel never sends `open` again after ENOSYS. */
  noOpen: 1 << 17,
  parallelDirectories: 1 << 18,
  abortError: 1 << 21,
  maxPages: 1 << 22,
  cacheSymlinks: 1 << 23,
  noOpendir: 1 << 24,
  explicitInvalidation: 1 << 25,
  /** The server clears set-user-id bits on request, so the kernel needs no attributes before a write. */
  killPrivileges: 1 << 28,
} as const

const { atomicTruncate, automaticInvalidation, ...byInode } = features
const { asyncRead, bigWrites, parallelDirectories, abortError, maxPages } = features

/** Kind of a connection: inodes of a vault, or paths of any file system. */
type ConnectionKind = 'inodes' | 'paths'

const wantedFeatures: Readonly<Record<ConnectionKind, readonly number[]>> = {
  /** The kernel may cache and handle as much as it can. */
  inodes: Object.values(byInode),
  /** Others change the paths without notice, so files are opened and written through. */
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
 * Replies to the first request of a connection. Returns false for a newer major version: the kernel then retries with
 * the one of the reply. EPROTO for a kernel that is too old.
 */
export function negotiate(request: FuseRequest, reply: FuseReply, kind: ConnectionKind = 'inodes'): boolean {
  const [major, minor, readahead] = [request.u32(0), request.u32(4), request.u32(8)]
  if (major > MAJOR) {
    putVersion(reply, MINOR)
    reply.zeros(56)
    return false
  }
  if (major < MAJOR || minor < MIN_MINOR) throw new WireError('EPROTO')
  putVersion(reply, Math.min(minor, MINOR))
  reply.u32(readahead)
  reply.u32(request.u32(12) & wantedFeatures[kind].reduce((all, bit) => all | bit, 0))
  reply.u16(MAX_BACKGROUND)
  reply.u16(CONGESTION)
  reply.u32(MAX_WRITE_BYTES)
  // Time granularity: 1 ns.
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
