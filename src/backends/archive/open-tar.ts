import { Readable } from 'node:stream'
import type { Header } from 'tar-stream'
import { type CallContext, type FileSystem, MemoryFs, type Stat, VfsError } from '../../vfs/index.ts'
import { ArchiveFs } from './archive-fs.ts'
import { type ArchiveSource, openArchiveSource } from './archive-source.ts'
import { type ArchiveEntry, type ArchiveOptions, ArchiveTree } from './archive-tree.ts'
import { inflateArchive } from './inflate.ts'
import { ListingLimit } from './listing-limit.ts'
import { loadPackage } from './load-package.ts'

/** Options of `openTar`. */
export interface TarOptions extends ArchiveOptions {
  /** The file for the inflated archive, so that entries can be read in any order. In memory when absent. */
  readonly scratch?: { readonly fs: FileSystem; readonly path: string }
  /** Limit of the inflated archive. 1 GiB when absent. */
  readonly maxBytes?: number
}

const MAX_BYTES = 2 ** 30
const HEADER_BYTES = 512
const FILE_TYPES = {
  file: 'file',
  'contiguous-file': 'file',
  link: 'file',
  symlink: 'symlink',
  directory: 'directory',
  'character-device': 'other',
  'block-device': 'other',
  fifo: 'other',
} as const

/**
 * Opens a tar archive, plain or compressed (gzip, zstd), as a read-only file system. Reads the archive once for its
 * entries; later reads seek to the content. ENOENT, EINVAL (an entry that leads outside), EIO (damaged), EFBIG (too large,
 * or too many entries), ENOTSUP (a sparse entry or one of unknown type, zstd on an older Node, a missing package).
 */
export async function openTar(
  fs: FileSystem,
  path: string,
  { scratch, maxBytes = MAX_BYTES, ...options }: TarOptions = {},
  ctx?: CallContext,
): Promise<ArchiveFs> {
  const packed = await openArchiveSource(fs, path, ctx)
  const content = await inflateArchive(packed, maxBytes)
  if (content === undefined)
    return new ArchiveFs(new ArchiveTree(await readEntries(packed, options), path, options))
  const target = scratch ?? { fs: new MemoryFs(), path: '/archive.tar' }
  await target.fs.write(target.path, content, {}, ctx)
  const source = { ...(await openArchiveSource(target.fs, target.path, ctx)), path }
  return new ArchiveFs(new ArchiveTree(await readEntries(source, options), path, options))
}

async function readEntries(source: ArchiveSource, { maxEntries }: ArchiveOptions): Promise<ArchiveEntry[]> {
  const { extract } = await loadPackage('tar-stream', () => import('tar-stream'))
  const entries: ArchiveEntry[] = []
  const limit = new ListingLimit(source.path, maxEntries)
  const parser = extract()
  const input = Readable.from(source.read(0, source.size))
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  try {
    for await (const stream of parser) {
      const { name, linkname } = stream.header
      limit.add(name.length + (linkname ?? '').length)
      entries.push(toArchiveEntry(stream.header, stream.offset + HEADER_BYTES, source))
      stream.resume()
    }
  } catch (error) {
    if (error instanceof VfsError) throw error
    throw new VfsError('EIO', source.path, {
      op: 'open',
      detail: 'the file is not a tar archive, or damaged',
      cause: error,
    })
  } finally {
    input.destroy()
  }
  return entries
}

/** @param start the offset of the content. */
function toArchiveEntry(header: Header, start: number, source: ArchiveSource): ArchiveEntry {
  const { name, type, linkname } = header
  const pax = getPaxHeader(header)
  const fileType = findFileType(type)
  if (fileType === undefined || Object.keys(pax).some((key) => key.startsWith('GNU.sparse')))
    throw new VfsError('ENOTSUP', source.path, {
      op: 'open',
      detail: `the entry '${name}' is sparse or of an unknown type, which is not supported`,
    })
  const stat = toStat(header, fileType, pax['mtime'])
  if (fileType === 'symlink')
    return { name, stat: { ...stat, size: Buffer.byteLength(linkname) }, target: linkname }
  if (type === 'link') return { name, stat, sameAs: linkname }
  if (fileType !== 'file') return { name, stat }
  return {
    name,
    stat,
    read: (from, length) => source.read(start + from, Math.max(0, Math.min(length, stat.size - from))),
  }
}

/** Returns undefined for a type that the parser does not support. */
function findFileType(type: string | null): Stat['type'] | undefined {
  return Object.entries(FILE_TYPES).find(([known]) => known === type)?.[1]
}

function toStat({ mode, size, mtime }: Header, type: Stat['type'], exactTime: string | undefined): Stat {
  const exact = exactTime === undefined ? undefined : new Date(Math.floor(Number(exactTime) * 1000))
  // Ignores an invalid time of a damaged or forged header.
  const time = [exact, mtime].find((time) => time !== undefined && !Number.isNaN(time.getTime()))
  return {
    type,
    size: type === 'file' ? (size ?? 0) : 0,
    mtime: time ?? new Date(0),
    mode: mode === undefined ? null : mode & 0o7777,
  }
}

/** Returns the fields of the pax header. The parser applies its names and sizes itself. */
function getPaxHeader(header: Header): Readonly<Record<string, string>> {
  if (!('pax' in header) || typeof header.pax !== 'object' || header.pax === null) return {}
  return Object.fromEntries(Object.entries(header.pax).map(([key, value]) => [key, String(value)]))
}
