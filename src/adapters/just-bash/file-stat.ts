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

/** Which file something is: commands refuse to copy or move what they cannot tell from its target. */
type FileIdentity = Pick<FsStat, 'dev' | 'ino' | 'identity'>

/** Describes a path without following it; `device` tells one file system from another. ENOENT. */
export async function describePath(
  fs: FileSystem,
  path: string,
  device: number,
  ctx?: CallContext,
): Promise<FsStat> {
  const now = trySync(fs, (sync) => sync.stat(path, ctx))
  if (now !== undefined) return toFsStat(now, { dev: device, ino: now.ino })
  const stat = await fs.stat(path, ctx)
  return toFsStat(stat, await getIdentity(fs, path, device, ctx))
}

/** A stat of ours as just-bash has it. */
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
  // Without hard links a file has one name, so its real path tells which it is.
  const real = isLinkable(fs) ? await fs.realpath(path, {}, ctx) : path
  return { identity: `${device}:${real}` }
}

/** Undefined where files have no numbers: in some mounts of a table that declares them, perhaps. */
async function findInode(fs: FileSystem, path: string, ctx?: CallContext): Promise<number | undefined> {
  if (!isHardLinkable(fs)) return undefined
  try {
    return (await fs.identity(path, ctx)).ino
  } catch (error) {
    if (isVfsError(error, 'ENOTSUP')) return undefined
    throw error
  }
}
