import type { InodeAttributes, InodeChanges } from '../inode-fs.ts'
import type { Reply } from './reply.ts'
import type { Request } from './request.ts'

const BLOCK_BYTES = 4096
/** Which fields of a `setattr` are meant. */
const valid = {
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

/** How long the kernel may answer from what it was told. It is told of changes that others make. */
export interface Validity {
  readonly seconds: number
}

/** What a `setattr` asks for. */
export interface SetAttributes {
  readonly changes: InodeChanges
  /** Whoever truncates may not keep the set-user-id bit. */
  readonly killsPrivileges: boolean
}

export function setAttributesOf(request: Request): SetAttributes {
  const fields = request.u32(0)
  const has = (bit: number) => (fields & bit) !== 0
  return {
    killsPrivileges: has(valid.killPrivileges),
    changes: {
      ...(has(valid.size) && { size: request.u64(16) }),
      ...(has(valid.atime) && {
        atime: has(valid.atimeNow) ? 'now' : { seconds: request.i64(32), nanos: request.u32(56) },
      }),
      ...(has(valid.mtime) && {
        mtime: has(valid.mtimeNow) ? 'now' : { seconds: request.i64(40), nanos: request.u32(60) },
      }),
      ...(has(valid.mode) && { mode: request.u32(68) & 0o7777 }),
      ...(has(valid.uid) && { uid: request.u32(76) }),
      ...(has(valid.gid) && { gid: request.u32(80) }),
    },
  }
}

/** `fuse_attr_out` */
export function putAttributes(
  reply: Reply,
  ino: number,
  attributes: InodeAttributes,
  { seconds }: Validity,
): void {
  reply.u64(seconds)
  reply.zeros(8)
  putAttributeFields(reply, ino, attributes)
}

/** `fuse_entry_out` */
export function putEntry(
  reply: Reply,
  ino: number,
  attributes: InodeAttributes,
  { seconds }: Validity,
): void {
  reply.u64(ino)
  // Numbers are never used again, so there is one generation.
  reply.u64(0)
  reply.u64(seconds)
  reply.u64(seconds)
  reply.zeros(8)
  putAttributeFields(reply, ino, attributes)
}

/** A `fuse_entry_out` that says there is nothing, and for how long that may be remembered. */
export function putNoEntry(reply: Reply, { seconds }: Validity): void {
  reply.zeros(16)
  reply.u64(seconds)
  reply.zeros(104)
}

/** What stands for an entry in a listing of which the kernel is to remember nothing. */
export function putEntryToSkip(reply: Reply): void {
  reply.zeros(128)
}

function putAttributeFields(reply: Reply, ino: number, attributes: InodeAttributes): void {
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
