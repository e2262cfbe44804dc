import { PassThrough, Readable } from 'node:stream'
import type { ZipFile } from 'yazl'
import { type CallContext, type FileSystem, getPermissions, VfsError } from '../../vfs/index.ts'
import { listPackedEntries, type PackedEntry } from './list-packed-entries.ts'
import { loadPackage } from './load-package.ts'
import type { PackOptions } from './pack-tar.ts'

const SYMLINK_MODE = 0o120777
const FILE_TYPE_BITS = 0o100000
const DIRECTORY_TYPE_BITS = 0o040000
const MAX_TIME = (2 ** 31 - 1) * 1000

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
  // What is destroyed ends at once; an iterator of the packer's own stream would wait for bytes that never come.
  const output = zip.outputStream.pipe(new PassThrough())
  zip.on('error', (error) => output.destroy(error))
  const filling = packEntries(zip, fs, root, onEntry, ctx)
  filling.catch((error) => output.destroy(error))
  yield* output
  await filling
}

async function packEntries(
  zip: ZipFile,
  fs: FileSystem,
  root: string,
  onEntry: ((path: string) => void) | undefined,
  ctx: CallContext | undefined,
): Promise<void> {
  for await (const entry of listPackedEntries(fs, root, ctx)) addEntry(zip, fs, entry, onEntry, ctx)
  zip.end()
}

/** The packer would make another name of it, or fail without one. EINVAL. */
function assertName(path: string, name: string): void {
  if (!name.includes('\\') && !/^[a-z]:/i.test(name)) return
  const detail = 'a zip cannot hold a name with a backslash or a drive; rename it, or make a .tar.gz'
  throw new VfsError('EINVAL', path, { op: 'pack', detail })
}

/** A zip counts seconds from 1970 to 2038. */
function clampTime(time: Date): Date {
  return new Date(Math.min(Math.max(time.getTime(), 0), MAX_TIME))
}

function addEntry(
  zip: ZipFile,
  fs: FileSystem,
  { path, name, stat, target }: PackedEntry,
  onEntry: ((path: string) => void) | undefined,
  ctx: CallContext | undefined,
): void {
  const mtime = clampTime(stat.mtime)
  assertName(path, name)
  if (stat.type !== 'file') onEntry?.(path)
  if (target !== undefined) {
    zip.addBuffer(Buffer.from(target), name, { mtime, mode: SYMLINK_MODE, compress: false })
  } else if (stat.type === 'directory') {
    zip.addEmptyDirectory(name, { mtime, mode: DIRECTORY_TYPE_BITS | getPermissions(stat) })
  } else {
    // Opened when its turn comes, or a thousand files would be open at once.
    zip.addReadStreamLazy(
      name,
      { mtime, mode: FILE_TYPE_BITS | getPermissions(stat), size: stat.size },
      (opened) => {
        onEntry?.(path)
        const content = Readable.from(fs.read(path, {}, ctx))
        // The packer does not listen: a read that fails, or is aborted, would end the program.
        content.on('error', (error) => zip.emit('error', error))
        opened(null, content)
      },
    )
  }
}
