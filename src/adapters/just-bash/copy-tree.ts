import {
  type CallContext,
  child,
  copy,
  type FileSystem,
  isAttributed,
  isVfsError,
  relativeTo,
  type Stat,
} from '../../vfs/index.ts'
import { setAttributes } from './set-attributes.ts'

/**
 * Copies as `cp -rp` does: replaces files, merges directories, copies links as links, and preserves modes. On a file system
 * with attributes it also preserves the modification times of files and directories, not those of links.
 */
export async function copyTree(fs: FileSystem, from: string, to: string, ctx?: CallContext): Promise<void> {
  await copy(fs, from, to, { overwrite: true }, ctx)
  if (!isAttributed(fs)) return
  const top = await fs.stat(from, ctx)
  await copyTime(fs, to, top, ctx)
  if (top.type !== 'directory') return
  for await (const { path, stat } of fs.walk(from, { includeDirs: true }, ctx)) {
    await copyTime(fs, child(to, relativeTo(path, from) ?? ''), stat, ctx)
  }
}

async function copyTime(
  fs: FileSystem,
  path: string,
  { type, mtime }: Stat,
  ctx?: CallContext,
): Promise<void> {
  if (type !== 'file' && type !== 'directory') return
  try {
    await setAttributes(fs, path, { mtime }, ctx)
  } catch (error) {
    // A caller may create entries in directories whose attributes it may not change, such as /shared.
    if (type === 'file' || !isVfsError(error, 'EACCES')) throw error
  }
}
