import { type CallContext, type FileSystem, isLinkable, type RangeReader } from '../../vfs/index.ts'

/** The bytes of an archive in any file system. */
export interface ArchiveSource {
  readonly path: string
  readonly size: number
  readonly read: RangeReader
}

/** Opens an archive file, following links. Its bytes are read on demand, so the file must not change. ENOENT. */
export async function openArchiveSource(
  fs: FileSystem,
  path: string,
  ctx: CallContext | undefined,
): Promise<ArchiveSource> {
  const realPath = isLinkable(fs) ? await fs.realpath(path, { followLast: true }, ctx) : path
  const { size } = await fs.stat(realPath, ctx)
  return {
    path,
    size,
    read: (start, length) => {
      const within = Math.max(0, Math.min(length, size - start))
      return fs.read(realPath, { byteRange: [start, within] }, ctx)
    },
  }
}
