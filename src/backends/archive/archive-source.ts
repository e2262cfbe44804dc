import type { CallContext, FileSystem, RangeReader } from '../../vfs/index.ts'

/** The bytes of an archive, wherever they lie. */
export interface ArchiveSource {
  readonly path: string
  readonly size: number
  readonly read: RangeReader
}

/** A file of any file system. What is read later is asked for later: the file must stay as it is. ENOENT. */
export async function archiveSource(
  fs: FileSystem,
  path: string,
  ctx: CallContext | undefined,
): Promise<ArchiveSource> {
  const { size } = await fs.stat(path, ctx)
  return {
    path,
    size,
    read: (start, length) => {
      const within = Math.max(0, Math.min(length, size - start))
      return fs.read(path, { byteRange: [start, within] }, ctx)
    },
  }
}
