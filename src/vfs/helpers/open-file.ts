import { isVfsError, VfsError } from '../error.ts'
import type { CallContext, FileSystem } from '../file-system.ts'
import { type FileHandle, isLinkable, isOpenable, type OpenOptions } from '../protocols.ts'
import { isSynchronous } from '../sync-file-system.ts'
import { assertWritable } from '../write-buffer/assert-writable.ts'
import { BufferedHandle } from '../write-buffer/buffered-handle.ts'
import { AsyncHandle } from './async-handle.ts'

/**
 * Opens a file for random access on any file system. Without native support it reads in parts and buffers writes until
 * `sync` or `close`. Follows links. Throws ENOENT without `create`, EISDIR, and for writers EROFS and EACCES.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/a.txt': 'hello' })
 * const file = await openFile(fs, '/a.txt', { write: true })
 * await file.write(0, new TextEncoder().encode('J'))
 * await file.close()
 * assert.equal(await readText(fs, '/a.txt'), 'Jello')
 * ```
 */
export async function openFile(
  fs: FileSystem,
  path: string,
  options: OpenOptions = {},
  ctx?: CallContext,
): Promise<FileHandle> {
  if (isOpenable(fs)) {
    try {
      return await fs.open(path, options, ctx)
    } catch (error) {
      // A mount table declares `open` if any of its mounts has it; this one has not.
      if (!isVfsError(error, 'ENOTSUP')) throw error
    }
  }
  if (isSynchronous(fs)) return new AsyncHandle(fs.sync.open(path, options, ctx))
  return openBuffered(fs, path, options, ctx)
}

async function openBuffered(
  fs: FileSystem,
  path: string,
  { create = false, truncate = false, ...access }: OpenOptions,
  ctx: CallContext | undefined,
): Promise<FileHandle> {
  const realPath = isLinkable(fs) ? await fs.realpath(path, { followLast: true }, ctx) : path
  const isNew = create && (await createIfMissing(fs, realPath, ctx))
  const { type } = await fs.stat(realPath, ctx)
  if (type === 'directory') throw new VfsError('EISDIR', path, { op: 'open' })
  if ((access.write || truncate) && !isNew) await assertWritable(fs, realPath, ctx)
  const handle = new BufferedHandle(fs, realPath, access, ctx)
  if (truncate && !isNew) handle.empty()
  return handle
}

async function createIfMissing(fs: FileSystem, path: string, ctx: CallContext | undefined): Promise<boolean> {
  if (await fs.exists(path, ctx)) return false
  try {
    await fs.write(path, new Uint8Array(0), { ifMatch: null }, ctx)
    return true
  } catch (error) {
    // Another writer created it first.
    if (isVfsError(error, 'ECONFLICT')) return false
    throw error
  }
}
