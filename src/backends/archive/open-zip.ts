import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import type { Entry, RandomAccessReader, ZipFile } from 'yauzl'
import { type CallContext, collect, type FileSystem, type Stat, VfsError } from '../../vfs/index.ts'
import { ArchiveFs } from './archive-fs.ts'
import { type ArchiveSource, openArchiveSource } from './archive-source.ts'
import { type ArchiveEntry, type ArchiveOptions, ArchiveTree, MAX_TARGET_BYTES } from './archive-tree.ts'
import { ListingLimit } from './listing-limit.ts'
import { loadPackage } from './load-package.ts'
import { assertNoOverlap, findSizeFlaw } from './zip-ranges.ts'

type Yauzl = typeof import('yauzl')

/** The host system of an entry, in the upper byte of its version. */
const UNIX_HOST = 3
const FILE_TYPE_MASK = 0o170000
const FILE_TYPES: ReadonlyMap<number, Stat['type']> = new Map([
  [0o120000, 'symlink'],
  [0o040000, 'directory'],
  [0o100000, 'file'],
  [0, 'file'],
])

/**
 * Opens a zip archive as a read-only file system. Reads only its directory; a file is inflated on read, and its
 * checksum is verified at the end. ENOENT, EINVAL (an entry that leads outside), EIO (damaged), EFBIG (too many entries),
 * ENOTSUP (a missing package). Reading an encrypted entry is ENOTSUP.
 */
export async function openZip(
  fs: FileSystem,
  path: string,
  options: ArchiveOptions = {},
  ctx?: CallContext,
): Promise<ArchiveFs> {
  const source = await openArchiveSource(fs, path, ctx)
  const yauzl = await loadPackage('yauzl', () => import('yauzl'))
  try {
    const zip = await yauzl.fromRandomAccessReaderPromise(createReader(yauzl, source), source.size, {
      autoClose: false,
      decodeStrings: false,
      lazyEntries: true,
    })
    const listed = await listEntries(zip, new ListingLimit(path, options.maxEntries))
    assertNoOverlap(listed, path)
    const entries: ArchiveEntry[] = []
    for (const entry of listed) entries.push(await toArchiveEntry(yauzl, zip, entry, source))
    return new ArchiveFs(new ArchiveTree(entries, path, options))
  } catch (error) {
    throw createDamageError(error, path, 'the file is not a zip archive, or damaged')
  }
}

async function listEntries(zip: ZipFile, limit: ListingLimit): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of zip.eachEntry()) {
    limit.add(entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength)
    entries.push(entry)
  }
  return entries
}

function createReader({ RandomAccessReader: Reader }: Yauzl, source: ArchiveSource): RandomAccessReader {
  class SourceReader extends Reader {
    override _readStreamForRange(start: number, end: number): Readable {
      return Readable.from(source.read(start, end - start))
    }
  }
  return new SourceReader()
}

async function toArchiveEntry(
  yauzl: Yauzl,
  zip: ZipFile,
  entry: Entry,
  { path, size }: ArchiveSource,
): Promise<ArchiveEntry> {
  const name = yauzl.getFileNameLowLevel(
    entry.generalPurposeBitFlag,
    entry.fileNameRaw,
    entry.extraFields,
    true,
  )
  const stat = toStat(entry, name)
  // The separator of another system: its directories would become parts of names here.
  if (name.includes('\\')) return { name, stat, flaw: 'the name has a backslash' }
  if (stat.type !== 'file' && stat.type !== 'symlink') return { name, stat }
  const flaw = findSizeFlaw(entry, size)
  if (flaw !== undefined) return { name, stat, flaw }
  const read = (start: number, length: number) => readContent(zip, entry, { path, name }, start, length)
  if (stat.type === 'file') return { name, stat, read }
  if (stat.size > MAX_TARGET_BYTES)
    return { name, stat, flaw: `the target of the link has ${stat.size} bytes` }
  const target = Buffer.from(await collect(read(0, stat.size))).toString()
  return { name, stat, target }
}

function toStat(entry: Entry, name: string): Stat {
  const { versionMadeBy, externalFileAttributes, uncompressedSize } = entry
  const mode = versionMadeBy >>> 8 === UNIX_HOST ? externalFileAttributes >>> 16 : 0
  const type = name.endsWith('/') ? 'directory' : (FILE_TYPES.get(mode & FILE_TYPE_MASK) ?? 'other')
  return {
    type,
    size: type === 'file' || type === 'symlink' ? uncompressedSize : 0,
    mtime: entry.getLastModDate(),
    mode: mode === 0 ? null : mode & 0o7777,
  }
}

/** Reads a range of an entry. A compressed entry is inflated from its start, because it allows no random access. */
async function* readContent(
  zip: ZipFile,
  entry: Entry,
  { path, name }: { readonly path: string; readonly name: string },
  start: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  if (entry.isEncrypted())
    throw new VfsError('ENOTSUP', path, {
      op: 'read',
      detail: `the entry '${name}' is encrypted; unpack it with its password first`,
    })
  let [position, checksum] = [0, 0]
  const end = start + length
  try {
    const content: AsyncIterable<Uint8Array> = await zip.openReadStreamPromise(entry)
    for await (const chunk of content) {
      checksum = crc32(chunk, checksum)
      const piece = chunk.subarray(Math.max(0, start - position), Math.max(0, end - position))
      position += chunk.length
      if (piece.length > 0) yield piece
      if (position >= end && position < entry.uncompressedSize) return
    }
  } catch (error) {
    throw createDamageError(error, path, `the entry '${name}' is damaged`)
  }
  if (checksum !== entry.crc32)
    throw new VfsError('EIO', path, {
      op: 'read',
      detail: `the entry '${name}' is damaged: the checksum does not match`,
    })
}

function createDamageError(error: unknown, path: string, detail: string): VfsError {
  return error instanceof VfsError ? error : new VfsError('EIO', path, { op: 'open', detail, cause: error })
}
