import { isUtf8 } from 'node:buffer'
import { type CallContext, type FileSystem, isLinkable, VfsError } from '../vfs/index.ts'
import type { WebContent } from '../web-api/index.ts'

/** Limit in bytes of what is read of a file at once. */
export const MAX_PART_BYTES: number = 256 * 1024
/** Length of the prefix in which a NUL byte marks a file as binary. */
const BINARY_PROBE_BYTES = 8000
const NEWLINE = 0x0a
/** Bits that mark a byte inside of a UTF-8 character. */
const [CONTINUATION_MASK, CONTINUATION_BITS] = [0xc0, 0x80]
const KEY_BEGIN = '-----BEGIN '
const KEY_END = /-----END [A-Z ]*PRIVATE KEY-----/

/** Reads a part of a file that ends with a line, and not inside of a private key; of a link, its target. EISDIR. */
export async function readPart(
  fs: FileSystem,
  path: string,
  offset: number,
  ctx: CallContext,
): Promise<Omit<WebContent, 'version' | 'isRedacted'>> {
  const { type, size, mtime } = await fs.stat(path, ctx)
  const about = { path, type, size, mtime: mtime.toISOString(), offset }
  if (type === 'directory') throw new VfsError('EISDIR', path, { op: 'read' })
  if (type === 'symlink' && isLinkable(fs))
    return { ...about, isBinary: false, text: await fs.readlink(path, ctx), next: null }
  const probe = await readRange(fs, path, 0, Math.min(size, BINARY_PROBE_BYTES), ctx)
  const bytes = await readRange(fs, path, offset, MAX_PART_BYTES, ctx)
  const isEnd = offset + bytes.length >= size
  const part = isEnd ? bytes : bytes.subarray(0, findCut(bytes))
  if (probe.includes(0) || !isUtf8(part)) return { ...about, isBinary: true, text: '', next: null }
  return {
    ...about,
    isBinary: false,
    text: new TextDecoder().decode(part),
    next: isEnd ? null : offset + part.length,
  }
}

/** Finds the end of the last whole line; without any, the begin of the last character, which may be incomplete. */
function findCut(bytes: Uint8Array): number {
  const end = bytes.lastIndexOf(NEWLINE) + 1
  if (end === 0) {
    let cut = bytes.length
    while (cut > 0 && ((bytes[cut - 1] ?? 0) & CONTINUATION_MASK) === CONTINUATION_BITS) cut--
    return Math.max(1, cut - 1)
  }
  const text = Buffer.from(bytes.subarray(0, end)).toString('latin1')
  const key = text.lastIndexOf(KEY_BEGIN)
  return key > 0 && !KEY_END.test(text.slice(key)) ? text.lastIndexOf('\n', key) + 1 || end : end
}

async function readRange(
  fs: FileSystem,
  path: string,
  offset: number,
  length: number,
  ctx: CallContext,
): Promise<Uint8Array> {
  if (length === 0) return new Uint8Array(0)
  const parts = await Array.fromAsync(fs.read(path, { byteRange: [offset, length] }, ctx))
  return Buffer.concat(parts)
}
