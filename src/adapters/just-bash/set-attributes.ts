import {
  type CallContext,
  type FileSystem,
  isAttributed,
  isVfsError,
  type StatChanges,
} from '../../vfs/index.ts'

/** Changes metadata where the file system keeps any that can be set, and says whether it does. ENOENT. */
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
    // A mount table declares what any of its mounts can do.
    if (isVfsError(error, 'ENOTSUP')) return false
    throw error
  }
}
