import { Readable } from 'node:stream'
import type { ZipFile } from 'yazl'
import type { CallContext, FileSystem } from '../../vfs/index.ts'
import { loadPackage } from './load-package.ts'
import type { PackOptions } from './pack-tar.ts'
import { type PackedEntry, packedEntries } from './packed-entry.ts'

const SYMLINK = 0o120777
const FILE = 0o100000
const DIRECTORY = 0o040000

/**
 * Everything below a directory as a zip archive, piece by piece. Links stay links; several names of one file become
 * several files, since a zip has no other way; devices are left out.
 */
export async function* packZip(
  fs: FileSystem,
  { root = '/', onEntry }: PackOptions = {},
  ctx?: CallContext,
): AsyncGenerator<Uint8Array> {
  const { ZipFile } = await loadPackage('yazl', () => import('yazl'))
  const zip = new ZipFile()
  const output = Readable.from(zip.outputStream)
  zip.on('error', (error) => output.destroy(error))
  const filling = fill(zip, fs, root, onEntry, ctx)
  filling.catch((error) => output.destroy(error))
  yield* output
  await filling
}

async function fill(
  zip: ZipFile,
  fs: FileSystem,
  root: string,
  onEntry: ((path: string) => void) | undefined,
  ctx: CallContext | undefined,
): Promise<void> {
  for await (const entry of packedEntries(fs, root, ctx)) add(zip, fs, entry, onEntry, ctx)
  zip.end()
}

function add(
  zip: ZipFile,
  fs: FileSystem,
  { path, name, stat, target }: PackedEntry,
  onEntry: ((path: string) => void) | undefined,
  ctx: CallContext | undefined,
): void {
  const { mtime, mode } = stat
  if (stat.type !== 'file') onEntry?.(path)
  if (target !== undefined) {
    zip.addBuffer(Buffer.from(target), name, { mtime, mode: SYMLINK, compress: false })
  } else if (stat.type === 'directory') {
    zip.addEmptyDirectory(name, { mtime, mode: DIRECTORY | (mode ?? 0o755) })
  } else {
    // Opened when its turn comes, or a thousand files would be open at once.
    zip.addReadStreamLazy(name, { mtime, mode: FILE | (mode ?? 0o644), size: stat.size }, (opened) => {
      onEntry?.(path)
      opened(null, Readable.from(fs.read(path, {}, ctx)))
    })
  }
}
