import { once } from 'node:events'
import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Header, Pack } from 'tar-stream'
import { type CallContext, type FileSystem, getPermissions, VfsError } from '../../vfs/index.ts'
import { listPackedEntries, type PackedEntry } from './list-packed-entries.ts'
import { loadPackage } from './load-package.ts'

/** Options of `packTar` and `packZip`. */
export interface PackOptions {
  /** The directory to pack; names in the archive are relative to it. The root when absent. */
  readonly root?: string
  /** Called with the path of each entry. */
  readonly onEntry?: (path: string) => void
}

/** Options of `packTar`. */
export interface TarPackOptions extends PackOptions {
  readonly gzip?: boolean
}

/** Header fields that the packer uses. */
type PackHeader = Pick<Header, 'name' | 'mode' | 'mtime' | 'type' | 'size' | 'uid' | 'gid'> & Partial<Header>

const REGULAR_FILE = 0o100000
const MAX_SECONDS = 2 ** 31 - 1

/**
 * Packs everything below a directory as a stream of a tar archive. Links stay links; devices are omitted. Equal trees
 * give equal bytes. EIO if a file changes its size meanwhile.
 */
export async function* packTar(
  fs: FileSystem,
  { root = '/', gzip = false, onEntry }: TarPackOptions = {},
  ctx?: CallContext,
): AsyncGenerator<Uint8Array> {
  const { pack } = await loadPackage('tar-stream', () => import('tar-stream'))
  const archive = pack()
  const packing = packEntries(archive, fs, root, onEntry, ctx)
  packing.catch((error) => archive.destroy(error))
  const plain = Readable.from(archive)
  const bytes: AsyncIterable<Uint8Array> = gzip ? gzipStream(plain) : plain
  try {
    yield* bytes
  } finally {
    archive.destroy()
  }
  await packing
}

function gzipStream(archive: Readable): AsyncIterable<Uint8Array> {
  const engine = createGzip()
  // An error on either side ends the other and surfaces in the reader.
  pipeline(archive, engine, () => {})
  return engine
}

async function packEntries(
  archive: Pack,
  fs: FileSystem,
  root: string,
  onEntry: ((path: string) => void) | undefined,
  ctx: CallContext | undefined,
): Promise<void> {
  for await (const entry of listPackedEntries(fs, root, ctx)) {
    onEntry?.(entry.path)
    const header = toHeader(entry)
    if (header.type === 'file') await packFile(archive, header, fs.read(entry.path, {}, ctx), entry.path)
    else archive.entry(header)
    if (archive.destroyed) return
  }
  archive.finalize()
}

async function packFile(
  archive: Pack,
  header: PackHeader,
  content: AsyncIterable<Uint8Array>,
  path: string,
): Promise<void> {
  const sink = archive.entry(header)
  const written = once(sink, 'close')
  // Awaited only if nothing failed before.
  written.catch(() => {})
  let length = 0
  for await (const chunk of content) {
    length += chunk.length
    if (length > header.size) break
    if (!sink.write(chunk)) await Promise.race([once(sink, 'drain'), written])
  }
  if (length !== header.size)
    throw new VfsError('EIO', path, {
      op: 'read',
      detail: 'the file changed its size during packing; try again',
    })
  sink.end(null)
  await written
}

function toHeader({ name, stat, target, sameAs }: PackedEntry): PackHeader {
  // The packer treats 0 as a missing mode, and drops the type bits.
  const mode = REGULAR_FILE | getPermissions(stat)
  const common = { name, mode, uid: 0, gid: 0, ...toHeaderTime(stat.mtime) }
  if (target !== undefined) return { ...common, type: 'symlink', linkname: target, size: 0 }
  if (sameAs !== undefined) return { ...common, type: 'link', linkname: sameAs, size: 0 }
  if (stat.type === 'directory') return { ...common, type: 'directory', size: 0 }
  return { ...common, type: 'file', size: stat.size }
}

/** Returns the time fields of a header. The old header allows seconds from 1970 to 2038; the pax header any time. */
function toHeaderTime(mtime: Date): Pick<Header, 'mtime'> & { readonly pax?: Record<string, string> } {
  const seconds = Math.floor(mtime.getTime() / 1000)
  const clamped = Math.min(Math.max(seconds, 0), MAX_SECONDS)
  return clamped === seconds
    ? { mtime }
    : { mtime: new Date(clamped * 1000), pax: { mtime: String(seconds) } }
}
