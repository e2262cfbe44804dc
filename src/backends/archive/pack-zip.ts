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
 * Packs everything below a directory as a stream of a zip archive. Links stay links; hard links become separate files,
 * because a zip has none; devices are omitted. EINVAL for a name that a zip cannot contain.
 */
export async function* packZip(
  fs: FileSystem,
  { root = '/', onEntry }: PackOptions = {},
  ctx?: CallContext,
): AsyncGenerator<Uint8Array> {
  const { ZipFile } = await loadPackage('yazl', () => import('yazl'))
  const zip = new ZipFile()
  // Destroying this stream ends the iteration; yazl's own stream would wait for more bytes.
  const output = zip.outputStream.pipe(new PassThrough())
  zip.on('error', (error) => output.destroy(error))
  const packing = packEntries(zip, fs, root, onEntry, ctx)
  packing.catch((error) => output.destroy(error))
  yield* output
  await packing
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

/** Throws EINVAL for a name that yazl would change or reject. */
function assertName(path: string, name: string): void {
  if (!name.includes('\\') && !/^[a-z]:/i.test(name)) return
  const detail =
    'a zip cannot contain a name with a backslash or a drive; rename the file or create a .tar.gz'
  throw new VfsError('EINVAL', path, { op: 'pack', detail })
}

/** Clamps a time to those that an extra field of a zip has: seconds since 1970, up to 2038. */
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
  // Progress: a file counts when its content is read.
  if (stat.type !== 'file') onEntry?.(path)
  // Only a symbolic link has a target.
  if (target !== undefined) {
    zip.addBuffer(Buffer.from(target), name, { mtime, mode: SYMLINK_MODE, compress: false })
  } else if (stat.type === 'directory') {
    zip.addEmptyDirectory(name, { mtime, mode: DIRECTORY_TYPE_BITS | getPermissions(stat) })
  } else {
    // Opened lazily, so that only one file is open at a time.
    zip.addReadStreamLazy(
      name,
      { mtime, mode: FILE_TYPE_BITS | getPermissions(stat), size: stat.size },
      (onOpen) => {
        onEntry?.(path)
        const content = Readable.from(fs.read(path, {}, ctx))
        // Yazl does not handle this error, so a failed or aborted read would end the program.
        content.on('error', (error) => zip.emit('error', error))
        onOpen(null, content)
      },
    )
  }
}
