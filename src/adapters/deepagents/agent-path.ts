import {
  type CallContext,
  checkPath,
  type FileSystem,
  isLinkable,
  isVfsError,
  type Stat,
  VfsError,
} from '../../vfs/index.ts'

/** A path of a model as one of the file system; one without a slash in front is below the root. EINVAL for `..`. */
export function parseAgentPath(path: string): string {
  const absolute = path.startsWith('/') ? path : `/${path}`
  if (absolute.split('/').includes('..')) {
    throw new VfsError('EINVAL', path, { detail: "the path has a '..' component; give the path itself" })
  }
  return checkPath(absolute)
}

/** What is at a path, behind the links; null if nothing is, or a link leads nowhere. */
export async function statFollowed(fs: FileSystem, path: string, ctx?: CallContext): Promise<Stat | null> {
  try {
    const stat = await fs.stat(path, ctx)
    if (stat.type !== 'symlink' || !isLinkable(fs)) return stat
    return await fs.stat(await fs.realpath(path, { followLast: true }, ctx), ctx)
  } catch (error) {
    if (isMissing(error) || isVfsError(error, 'ELOOP')) return null
    throw error
  }
}

/** Whether nothing is there. */
export function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')
}
