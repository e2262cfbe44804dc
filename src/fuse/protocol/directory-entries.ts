import type { FileType } from '../../vfs/index.ts'
import type { Reply } from './reply.ts'

const HEADER_BYTES = 24
const ALIGNMENT = 8
/** What precedes an entry in a listing that looks everything up. */
export const ENTRY_OUT_BYTES = 128

/** The kind of file as a directory tells it; 0 where only the inode knows. */
const kinds: Readonly<Record<FileType, number>> = { file: 8, directory: 4, symlink: 10, other: 0 }

export function direntBytes(name: string): number {
  return Math.ceil((HEADER_BYTES + Buffer.byteLength(name)) / ALIGNMENT) * ALIGNMENT
}

/** `fuse_dirent`; `cookie` is where a listing goes on behind it. */
export function putDirent(reply: Reply, ino: number, cookie: number, name: string, type: FileType): void {
  const before = reply.length
  const bytes = Buffer.byteLength(name)
  reply.u64(ino)
  reply.u64(cookie)
  reply.u32(bytes)
  reply.u32(kinds[type])
  reply.text(name)
  const rest = (reply.length - before) % ALIGNMENT
  if (rest !== 0) reply.zeros(ALIGNMENT - rest)
}
