import { type Duplex, pipeline, Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { VfsError } from '../../vfs/index.ts'
import type { ArchiveSource } from './archive-source.ts'

const GZIP_MAGIC = [0x1f, 0x8b]
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd]

/**
 * Inflates a compressed archive, recognised by its first bytes; undefined for others. ENOTSUP for zstd on an older Node. The
 * stream fails with EFBIG for content beyond the limit, and with EIO for a damaged archive.
 */
export async function inflateArchive(
  source: ArchiveSource,
  maxBytes: number,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const start: number[] = []
  for await (const chunk of source.read(0, ZSTD_MAGIC.length)) start.push(...chunk)
  const startsWith = (magic: readonly number[]) => magic.every((byte, index) => start[index] === byte)
  const engine = startsWith(GZIP_MAGIC)
    ? zlib.createGunzip()
    : startsWith(ZSTD_MAGIC)
      ? createZstdDecoder(source.path)
      : undefined
  if (engine === undefined) return undefined
  // An error on either side ends the other and surfaces in the reader.
  pipeline(Readable.from(source.read(0, source.size)), engine, () => {})
  return limitBytes(source, engine, maxBytes)
}

function createZstdDecoder(path: string): Duplex {
  if ('createZstdDecompress' in zlib) return zlib.createZstdDecompress()
  throw new VfsError('ENOTSUP', path, { op: 'open', detail: 'zstd needs Node 22.15 or newer' })
}

/** Limits the content: a few kilobytes can inflate to gigabytes. */
async function* limitBytes(
  { path }: ArchiveSource,
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  let length = 0
  try {
    for await (const chunk of content) {
      length += chunk.length
      if (length > maxBytes) throw createTooLargeError(path, maxBytes)
      yield chunk
    }
  } catch (error) {
    if (error instanceof VfsError) throw error
    throw new VfsError('EIO', path, {
      op: 'open',
      detail: 'the archive is damaged; get a new copy',
      cause: error,
    })
  }
}

function createTooLargeError(path: string, maxBytes: number): VfsError {
  const detail = `the archive unpacks to more than ${maxBytes} bytes; raise maxBytes and pass a scratch file system with enough space`
  return new VfsError('EFBIG', path, { op: 'open', detail })
}
