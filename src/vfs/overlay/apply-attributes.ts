import { isVfsError } from '../error.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import { child } from '../path.ts'
import { isAttributed, type StatChanges } from '../protocols.ts'

/** Final attributes of a path, applied after all other changes. */
export interface TargetAttributes {
  readonly path: string
  readonly stat: Stat
}

/** Gives a path, not what a link there leads to, the mode and time of a stat: where the file system can, and they differ. */
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

/** As `settle`, for a path and everything below it, with what another file system has there. Deepest first. */
export async function applyTreeAttributes(
  from: FileSystem,
  fs: FileSystem,
  path: string,
  ctx?: CallContext,
): Promise<void> {
  if (!isAttributed(fs)) return
  const found: TargetAttributes[] = []
  const pending = [path]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const stat = await from.stat(at, ctx)
    found.push({ path: at, stat })
    if (stat.type !== 'directory') continue
    for await (const { name } of from.readdir(at, ctx)) pending.push(child(at, name))
  }
  for (const one of found.reverse()) await applyAttributes(fs, one, ctx)
}

function diffAttributes(now: Stat, wanted: Stat): StatChanges {
  const isOtherMode = now.mode !== null && wanted.mode !== null && now.mode !== wanted.mode
  const isOtherTime = now.mtime.getTime() !== wanted.mtime.getTime()
  return {
    ...(isOtherMode && wanted.mode !== null && { mode: wanted.mode }),
    ...(isOtherTime && { mtime: wanted.mtime }),
  }
}

/** On many systems links have no mode of their own; then there is none to lose. */
async function ignoreLinkMode(set: Promise<void>, { type }: Stat): Promise<void> {
  try {
    await set
  } catch (error) {
    if (type !== 'symlink' || !isVfsError(error, 'ENOTSUP')) throw error
  }
}

/** Whoever may put files into somebody else's directory may not set its time: the new files have done that. */
async function ignoreForeignTime(set: Promise<void>, { type }: Stat): Promise<void> {
  try {
    await set
  } catch (error) {
    if (type !== 'directory' || !isVfsError(error, 'EACCES')) throw error
  }
}
