import type { InodeAttributes, InodeChanges } from '../inode-fs.ts'
import type { FuseReply } from './fuse-reply.ts'
import type { FuseRequest } from './fuse-request.ts'

const BLOCK_BYTES = 4096
/** Bits for the fields present in a `setattr`. */
const setattrFields = {
  mode: 1 << 0,
  uid: 1 << 1,
  gid: 1 << 2,
  size: 1 << 3,
  atime: 1 << 4,
  mtime: 1 << 5,
  atimeNow: 1 << 7,
  mtimeNow: 1 << 8,
  killPrivileges: 1 << 11,
} as const

/** Cache time of names and attributes. Notices invalidate them when others make changes. */
export interface CacheTtl {
  readonly seconds: number
}

/** Decoded `setattr` request. */
export interface SetAttributes {
  readonly changes: InodeChanges
  /** True if the set-user-id bit must be cleared, as after a truncate. */
  readonly killsPrivileges: boolean
}

export function parseSetAttributes(request: FuseRequest): SetAttributes {
  const fields = request.u32(0)
  const has = (bit: number) => (fields & bit) !== 0
  return {
    killsPrivileges: has(setattrFields.killPrivileges),
    changes: {
      ...(has(setattrFields.size) && { size: request.u64(16) }),
      ...(has(setattrFields.atime) && {
        atime: has(setattrFields.atimeNow) ? 'now' : { seconds: request.i64(32), nanos: request.u32(56) },
      }),
      ...(has(setattrFields.mtime) && {
        mtime: has(setattrFields.mtimeNow) ? 'now' : { seconds: request.i64(40), nanos: request.u32(60) },
      }),
      ...(has(setattrFields.mode) && { mode: request.u32(68) & 0o7777 }),
      ...(has(setattrFields.uid) && { uid: request.u32(76) }),
      ...(has(setattrFields.gid) && { gid: request.u32(80) }),
    },
  }
}

/** Writes a `fuse_attr_out`. */
export function putAttributes(
  reply: FuseReply,
  ino: number,
  attributes: InodeAttributes,
  { seconds }: CacheTtl,
): void {
  reply.u64(seconds)
  reply.zeros(8)
  putAttributeFields(reply, ino, attributes)
}

/** Writes a `fuse_entry_out`. */
export function putEntry(
  reply: FuseReply,
  ino: number,
  attributes: InodeAttributes,
  { seconds }: CacheTtl,
): void {
  reply.u64(ino)
  // Inode numbers are never reused, so one generation suffices.
  reply.u64(0)
  reply.u64(seconds)
  reply.u64(seconds)
  reply.zeros(8)
  putAttributeFields(reply, ino, attributes)
}

/** Writes a `fuse_entry_out` for a missing name, with its cache time. */
export function putNoEntry(reply: FuseReply, { seconds }: CacheTtl): void {
  reply.zeros(16)
  reply.u64(seconds)
  reply.zeros(104)
}

/** Writes the placeholder for an entry that the kernel must not cache. */
export function putEntryToSkip(reply: FuseReply): void {
  reply.zeros(128)
}

function putAttributeFields(reply: FuseReply, ino: number, attributes: InodeAttributes): void {
  const { size, blocks, atime, mtime, ctime, mode, nlink, uid, gid, rdev } = attributes
  reply.u64(ino)
  reply.u64(size)
  reply.u64(blocks)
  reply.u64(atime.seconds)
  reply.u64(mtime.seconds)
  reply.u64(ctime.seconds)
  reply.u32(atime.nanos)
  reply.u32(mtime.nanos)
  reply.u32(ctime.nanos)
  reply.u32(mode)
  reply.u32(nlink)
  reply.u32(uid)
  reply.u32(gid)
  reply.u32(rdev)
  reply.u32(BLOCK_BYTES)
  reply.u32(0)
}
