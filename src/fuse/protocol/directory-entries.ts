import type { FuseReply } from './fuse-reply.ts'

const HEADER_BYTES = 24
const ALIGNMENT = 8
/** Size of the lookup result before each entry of `readdirplus`. */
export const ENTRY_OUT_BYTES = 128

/** Returns the `d_type` for a mode; 0 if unknown. */
export function toEntryType(mode: number): number {
  return (mode >> 12) & 0o17
}

export function getDirentSize(name: string): number {
  return Math.ceil((HEADER_BYTES + Buffer.byteLength(name)) / ALIGNMENT) * ALIGNMENT
}

/** Writes a `fuse_dirent`. `cookie` is the position after it, `kind` a `d_type`. */
export function putDirent(reply: FuseReply, ino: number, cookie: number, name: string, kind: number): void {
  const before = reply.length
  const bytes = Buffer.byteLength(name)
  reply.u64(ino)
  reply.u64(cookie)
  reply.u32(bytes)
  reply.u32(kind)
  reply.text(name)
  const rest = (reply.length - before) % ALIGNMENT
  if (rest !== 0) reply.zeros(ALIGNMENT - rest)
}
