import { Readable } from 'node:stream'
import type { Header } from 'tar-stream'
import { type CallContext, type FileSystem, MemoryFs, type Stat, VfsError } from '../../vfs/index.ts'
import { ArchiveFs } from './archive-fs.ts'
import { type ArchiveSource, openArchiveSource } from './archive-source.ts'
import { type ArchiveEntry, type ArchiveOptions, ArchiveTree } from './archive-tree.ts'
import { inflateArchive } from './inflate.ts'
import { ListingLimit } from './listing-limit.ts'
import { loadPackage } from './load-package.ts'

export interface TarOptions extends ArchiveOptions {
  /** Where the content of a compressed archive is put, so that files can be read out of order. Memory when absent. */
  readonly scratch?: { readonly fs: FileSystem; readonly path: string }
  /** How large the content of a compressed archive may be. 1 GiB when absent. */
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
 * A tar archive, plain or compressed (gzip, zstd), as a read-only file system. It is read once to see what it holds;
 * after that a file is read where it lies. ENOENT, EINVAL (an entry that leads elsewhere), EIO (damaged), EFBIG, ENOTSUP.
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
  const place = scratch ?? { fs: new MemoryFs(), path: '/archive.tar' }
  await place.fs.write(place.path, content, {}, ctx)
  const source = { ...(await openArchiveSource(place.fs, place.path, ctx)), path }
  return new ArchiveFs(new ArchiveTree(await readEntries(source, options), path, options))
}

async function readEntries(source: ArchiveSource, { maxEntries }: ArchiveOptions): Promise<ArchiveEntry[]> {
  const { extract } = await loadPackage('tar-stream', () => import('tar-stream'))
  const entries: ArchiveEntry[] = []
  const bound = new ListingLimit(source.path, maxEntries)
  const parser = extract()
  const input = Readable.from(source.read(0, source.size))
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  try {
    for await (const stream of parser) {
      const { name, linkname } = stream.header
      bound.add(name.length + (linkname ?? '').length)
      entries.push(toArchiveEntry(stream.header, stream.offset + HEADER_BYTES, source))
      stream.resume()
    }
  } catch (error) {
    if (error instanceof VfsError) throw error
    throw new VfsError('EIO', source.path, {
      op: 'open',
      detail: 'it is no tar archive, or damaged',
      cause: error,
    })
  } finally {
    input.destroy()
  }
  return entries
}

/** @param start where its content begins. */
function toArchiveEntry(header: Header, start: number, source: ArchiveSource): ArchiveEntry {
  const { name, type, linkname } = header
  const pax = getPaxHeader(header)
  const known = kindOf(type)
  if (known === undefined || Object.keys(pax).some((key) => key.startsWith('GNU.sparse')))
    throw new VfsError('ENOTSUP', source.path, {
      op: 'open',
      detail: `the entry '${name}' is of a kind that is not read (sparse, or unknown)`,
    })
  const stat = toStat(header, known, pax['mtime'])
  if (known === 'symlink')
    return { name, stat: { ...stat, size: Buffer.byteLength(linkname) }, target: linkname }
  if (type === 'link') return { name, stat, sameAs: linkname }
  if (known !== 'file') return { name, stat }
  return {
    name,
    stat,
    read: (from, length) => source.read(start + from, Math.max(0, Math.min(length, stat.size - from))),
  }
}

/** Undefined for what the parser does not know, whatever its types say. */
function kindOf(type: string | null): Stat['type'] | undefined {
  return Object.entries(FILE_TYPES).find(([known]) => known === type)?.[1]
}

function toStat({ mode, size, mtime }: Header, type: Stat['type'], exactTime: string | undefined): Stat {
  const exact = exactTime === undefined ? undefined : new Date(Math.floor(Number(exactTime) * 1000))
  // What a damaged or made-up header has instead of a time is none.
  const time = [exact, mtime].find((one) => one !== undefined && !Number.isNaN(one.getTime()))
  return {
    type,
    size: type === 'file' ? (size ?? 0) : 0,
    mtime: time ?? new Date(0),
    mode: mode === undefined ? null : mode & 0o7777,
  }
}

/** What a newer header says beside the old one: names and sizes are taken from it by the parser. */
function getPaxHeader(header: Header): Readonly<Record<string, string>> {
  if (!('pax' in header) || typeof header.pax !== 'object' || header.pax === null) return {}
  return Object.fromEntries(Object.entries(header.pax).map(([key, value]) => [key, String(value)]))
}
