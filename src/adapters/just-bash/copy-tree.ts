import { type CallContext, copy, type FileSystem, isAttributed, relativeTo } from '../../vfs/index.ts'
import { setAttributes } from './set-attributes.ts'

/**
 * Copies as `cp -rp` does: preserves modes and times, copies links as links, replaces files, merges
 * directories.
 */
export async function copyTree(fs: FileSystem, from: string, to: string, ctx?: CallContext): Promise<void> {
  await copy(fs, from, to, { overwrite: true }, ctx)
  if (!isAttributed(fs)) return
  const { type, mtime } = await fs.stat(from, ctx)
  if (type === 'file') await setAttributes(fs, to, { mtime }, ctx)
  if (type !== 'directory') return
  for await (const { path, stat } of fs.walk(from, {}, ctx)) {
    if (stat.type !== 'file') continue
    await setAttributes(fs, `${to}/${relativeTo(path, from)}`, { mtime: stat.mtime }, ctx)
  }
}
