import {
  type CallContext,
  checkPath,
  type FileSystem,
  isLinkable,
  isVfsError,
  type Stat,
  VfsError,
} from '../../vfs/index.ts'

/** Parses a path of a model; one without a leading slash is below the root. EINVAL for `..`. */
export function parseAgentPath(path: string): string {
  const absolute = path.startsWith('/') ? path : `/${path}`
  if (absolute.split('/').includes('..')) {
    throw new VfsError('EINVAL', path, { detail: "the path has a '..' component; use the path without it" })
  }
  return checkPath(absolute)
}

/** Returns the stat of a path with links followed; null if it is missing or the link is broken. */
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

/** True if an error means that the path does not exist. */
export function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')
}
