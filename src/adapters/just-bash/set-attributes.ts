import {
  type CallContext,
  type FileSystem,
  isAttributed,
  isVfsError,
  type StatChanges,
} from '../../vfs/index.ts'

/** Changes metadata; returns false if the file system cannot set any. ENOENT. */
export async function setAttributes(
  fs: FileSystem,
  path: string,
  changes: StatChanges,
  ctx?: CallContext,
): Promise<boolean> {
  if (!isAttributed(fs)) return false
  try {
    await fs.setattr(path, changes, ctx)
    return true
  } catch (error) {
    // A mount table declares the union of its mounts' capabilities.
    if (isVfsError(error, 'ENOTSUP')) return false
    throw error
  }
}
