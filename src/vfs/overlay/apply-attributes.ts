import { isVfsError } from '../error.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import { child } from '../path.ts'
import { isAttributed, type StatChanges } from '../protocols.ts'

/** Final attributes of a path, applied after all other changes. */
export interface TargetAttributes {
  readonly path: string
  readonly stat: Stat
}

/**
 * Sets the mode and time of a path to those of a stat if they differ and the file system can set them. Does not follow
 * a link.
 */
export async function applyAttributes(
  fs: FileSystem,
  { path, stat }: TargetAttributes,
  ctx?: CallContext,
): Promise<void> {
  if (!isAttributed(fs)) return
  const { mode, ...time } = diffAttributes(await fs.stat(path, ctx), stat)
  if (mode !== undefined) await ignoreLinkMode(fs.setattr(path, { mode, ofLink: true }, ctx), stat)
  if (time.mtime !== undefined)
    await ignoreForeignTime(fs.setattr(path, { ...time, ofLink: true }, ctx), stat)
}

/** Applies the attributes that `from` has at a path and everywhere below it, deepest first. */
export async function applyTreeAttributes(
  from: FileSystem,
  fs: FileSystem,
  path: string,
  ctx?: CallContext,
): Promise<void> {
  if (!isAttributed(fs)) return
  const found: TargetAttributes[] = []
  const pending = [path]
  for (let current = pending.pop(); current !== undefined; current = pending.pop()) {
    const stat = await from.stat(current, ctx)
    found.push({ path: current, stat })
    if (stat.type !== 'directory') continue
    for await (const { name } of from.readdir(current, ctx)) pending.push(child(current, name))
  }
  for (const target of found.reverse()) await applyAttributes(fs, target, ctx)
}

function diffAttributes(current: Stat, wanted: Stat): StatChanges {
  const isOtherMode = current.mode !== null && wanted.mode !== null && current.mode !== wanted.mode
  const isOtherTime = current.mtime.getTime() !== wanted.mtime.getTime()
  return {
    ...(isOtherMode && wanted.mode !== null && { mode: wanted.mode }),
    ...(isOtherTime && { mtime: wanted.mtime }),
  }
}

/** Waits for a change of mode, and ignores ENOTSUP for a link: many systems have no mode for links. */
async function ignoreLinkMode(set: Promise<void>, { type }: Stat): Promise<void> {
  try {
    await set
  } catch (error) {
    if (type !== 'symlink' || !isVfsError(error, 'ENOTSUP')) throw error
  }
}

/**
 * Waits for a change of time, and ignores EACCES for a directory. A user who may create files in another user's directory
 * may not set its time; the new files have changed it already.
 */
async function ignoreForeignTime(set: Promise<void>, { type }: Stat): Promise<void> {
  try {
    await set
  } catch (error) {
    if (type !== 'directory' || !isVfsError(error, 'EACCES')) throw error
  }
}
