import type { CallContext, RemoveOptions } from '../file-system.ts'
import { copy } from '../helpers/copy-move.ts'
import { dirname } from '../path.ts'
import { applyAttributes } from './apply-attributes.ts'
import type { LayeredEntry, Layers } from './layers.ts'

/**
 * Calls `put`, which creates a name in upper, after the parent directory is copied up. ENOENT if that is missing and
 * `parents` is false, ENOTDIR if it is not a directory.
 */
export async function addName(
  layers: Layers,
  path: string,
  parents: boolean,
  op: string,
  put: () => Promise<void>,
  ctx?: CallContext,
): Promise<void> {
  const directory = await layers.assertParent(path, parents, op, ctx)
  if (directory === '/') await layers.touch(directory, ctx)
  await layers.directories.runChange(directory, put, ctx)
}

/** Removes a name from upper, and hides it in lower. */
export async function removeName(
  layers: Layers,
  { path, upper: own }: LayeredEntry,
  options: RemoveOptions,
  ctx?: CallContext,
): Promise<void> {
  const { lower, upper } = layers
  const directory = dirname(path)
  // Mask first, so that lower's content never reappears while upper's is being removed.
  const isInLower = await lower.exists(path, ctx)
  if (own === null || directory === '/') await layers.touch(directory, ctx)
  const unmask = isInLower ? layers.mask(path) : undefined
  try {
    if (own) await upper.remove(path, options, ctx)
  } catch (error) {
    unmask?.()
    throw error
  }
}

/** Copies an entry that only lower has to upper, with its attributes; a directory without its entries. */
export async function copyUp(
  layers: Layers,
  { path, upper: own, lower: lowerStat }: LayeredEntry,
  ctx?: CallContext,
): Promise<void> {
  if (own !== null || lowerStat === null) return
  const { directories, lower, upper } = layers
  if (lowerStat.type === 'directory') return directories.copyUp(path, ctx)
  const copyFile = async () => {
    await copy(lower, path, path, { into: upper }, ctx)
    await applyAttributes(upper, { path, stat: lowerStat }, ctx)
  }
  await directories.runKeepingTime(dirname(path), copyFile, ctx)
}
