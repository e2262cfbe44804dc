import type { Vault } from '../../backends/vault/index.ts'
import {
  type CallContext,
  dirname,
  type FileSystem,
  isLinkable,
  isVfsError,
  type PathChange,
  readFile,
} from '../../vfs/index.ts'

/**
 * Makes one change to a vault.
 *
 * @param source the tree after the change.
 * @param text the content to write; that of the source when absent.
 */
export async function copyChange(
  { kind, path, from, after }: PathChange,
  source: FileSystem,
  target: Vault,
  text: string | undefined,
  ctx: CallContext,
): Promise<void> {
  if (kind === 'deleted' || after === undefined) {
    await target.remove(path, { recursive: true }, ctx).catch(ignoreRemoved)
    return
  }
  await target.mkdir(dirname(path), { parents: true }, ctx)
  if (kind === 'renamed' && from !== undefined) await target.rename(from, path, {}, ctx)
  if (after.type === 'directory') await target.mkdir(path, { parents: true }, ctx)
  else if (after.type === 'symlink' && isLinkable(source)) {
    await target.remove(path, {}, ctx).catch(ignoreRemoved)
    await target.symlink(await source.readlink(path, ctx), path, ctx)
  } else {
    const content = text ?? (await readFile(source, path, undefined, ctx))
    await target.write(path, content, { ...(after.mode !== null && { mode: after.mode }) }, ctx)
  }
}

/** Ignores that a path is gone: the directory above may have been removed before. */
function ignoreRemoved(error: unknown): void {
  if (!isVfsError(error, 'ENOENT') && !isVfsError(error, 'ENOTDIR')) throw error
}
