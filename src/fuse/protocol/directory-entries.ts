import type { FuseReply } from './fuse-reply.ts'

const HEADER_BYTES = 24
const ALIGNMENT = 8
/** What precedes an entry in a listing that looks everything up. */
export const ENTRY_OUT_BYTES = 128

/** `d_type`: the kind of a file, as a mode has it above the permissions; 0 where nobody knows. */
export function toEntryType(mode: number): number {
  return (mode >> 12) & 0o17
}

export function getDirentSize(name: string): number {
  return Math.ceil((HEADER_BYTES + Buffer.byteLength(name)) / ALIGNMENT) * ALIGNMENT
}

/** `fuse_dirent`; `cookie` is where a listing goes on behind it, `kind` a `d_type`. */
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
