import type { FsStat } from 'just-bash'
import {
  type CallContext,
  type FileSystem,
  getPermissions,
  isHardLinkable,
  isLinkable,
  isVfsError,
  type Stat,
  trySync,
} from '../../vfs/index.ts'

/** Fields by which commands recognise two paths of one file: they refuse to copy or move a file onto itself. */
type FileIdentity = Pick<FsStat, 'dev' | 'ino' | 'identity'>

/**
 * Returns the stat of a path without following a link. `device` is the number of the file system, by which files of
 * different ones differ. Throws ENOENT if nothing has the path.
 */
export async function describePath(
  fs: FileSystem,
  path: string,
  device: number,
  ctx?: CallContext,
): Promise<FsStat> {
  const syncStat = trySync(fs, (sync) => sync.stat(path, ctx))
  if (syncStat !== undefined) return toFsStat(syncStat, { dev: device, ino: syncStat.ino })
  const stat = await fs.stat(path, ctx)
  return toFsStat(stat, await getIdentity(fs, path, device, ctx))
}

/** Converts a stat to just-bash's form. */
export function toFsStat({ type, mode, size, mtime }: Stat, identity: FileIdentity): FsStat {
  return {
    isFile: type === 'file' || type === 'other',
    isDirectory: type === 'directory',
    isSymbolicLink: type === 'symlink',
    mode: getPermissions({ type, mode }),
    size,
    mtime,
    ...identity,
  }
}

async function getIdentity(
  fs: FileSystem,
  path: string,
  device: number,
  ctx?: CallContext,
): Promise<FileIdentity> {
  const number = await findInode(fs, path, ctx)
  if (number !== undefined) return { dev: device, ino: number }
  // Without hard links a file has one name, so its real path identifies it.
  const real = isLinkable(fs) ? await fs.realpath(path, {}, ctx) : path
  return { identity: `${device}:${real}` }
}

/**
 * Returns the inode number; undefined if the file has none. A mount table declares the abilities of all its mounts
 * together, so a call on one mount may still throw ENOTSUP.
 */
async function findInode(fs: FileSystem, path: string, ctx?: CallContext): Promise<number | undefined> {
  if (!isHardLinkable(fs)) return undefined
  try {
    return (await fs.identity(path, ctx)).ino
  } catch (error) {
    if (isVfsError(error, 'ENOTSUP')) return undefined
    throw error
  }
}
