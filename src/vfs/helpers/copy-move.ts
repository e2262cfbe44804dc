import { isVfsError, VfsError } from '../error.ts'
import { withoutSignal } from '../events.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import { checkPath, child, isWithin } from '../path.ts'
import { isLinkable, isRenamable, type RenameOptions } from '../protocols.ts'
import { statIfPresent } from './stat-if-present.ts'

export interface CopyOptions {
  /** Replace files at the target; directories are merged. EEXIST when absent. */
  readonly overwrite?: boolean
  /** The file system the target path is in; the source's own when absent. */
  readonly into?: FileSystem
}

export interface MoveOptions extends RenameOptions {
  /** Copy and remove where a rename cannot go: from one mount to another. EXDEV when absent. */
  readonly across?: boolean
}

/** Copies a file or a tree, streaming, links as links. A copy that fails leaves no part of a new target behind. */
export async function copy(
  fs: FileSystem,
  from: string,
  to: string,
  { overwrite = false, into = fs }: CopyOptions = {},
  ctx?: CallContext,
): Promise<void> {
  const [source, target] = [checkPath(from, 'copy'), checkPath(to, 'copy')]
  const stat = await fs.stat(source, ctx)
  if (into === fs) await assertNotInside(fs, source, target, 'copy', ctx)
  const existed = await into.exists(target, ctx)
  if (existed && !overwrite) throw new VfsError('EEXIST', target, { op: 'copy' })
  try {
    await copyTree(fs, { from: source, to: target, stat }, into, ctx)
  } catch (error) {
    if (!existed) await removeIfPresent(into, target, ctx)
    throw error
  }
}

/** Moves a file or a tree: a rename where the file system has one. The source stays if a copy fails. */
export async function move(
  fs: FileSystem,
  from: string,
  to: string,
  { across = false, ...options }: MoveOptions = {},
  ctx?: CallContext,
): Promise<void> {
  if (isRenamable(fs)) {
    try {
      return await fs.rename(from, to, options, ctx)
    } catch (error) {
      if (!across || !isVfsError(error, 'EXDEV')) throw error
    }
  }
  const [source, target] = [checkPath(from, 'move'), checkPath(to, 'move')]
  const stat = await fs.stat(source, ctx)
  if (source === target) return
  await assertNotInside(fs, source, target, 'move', ctx)
  await assertReplaceable(fs, stat, target, options.overwrite === true, ctx)
  await copy(fs, source, target, options, ctx)
  await fs.remove(source, { recursive: true }, ctx)
}

interface CopyPair {
  readonly from: string
  readonly to: string
  readonly stat: Stat
}

/** Directory by directory, not by a walk: a walk skips what it cannot read, and a copy must not. */
async function copyTree(fs: FileSystem, whole: CopyPair, into: FileSystem, ctx?: CallContext): Promise<void> {
  const pending = [whole]
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const { from, to, stat } = pair
    // Listed before its copy is made, which may lie inside it by a link.
    const names = stat.type === 'directory' ? await Array.fromAsync(fs.readdir(from, ctx)) : []
    await copyEntry(fs, from, stat, into, to, ctx)
    for (const { name } of names) {
      const below = child(from, name)
      pending.push({ from: below, to: child(to, name), stat: await fs.stat(below, ctx) })
    }
  }
}

async function copyEntry(
  fs: FileSystem,
  from: string,
  stat: Stat,
  into: FileSystem,
  to: string,
  ctx?: CallContext,
): Promise<void> {
  const mode = stat.mode === null ? {} : { mode: stat.mode }
  if (stat.type === 'directory') await into.mkdir(to, { parents: true, ...mode }, ctx)
  else if (stat.type === 'symlink') await copyLink(fs, from, into, to, ctx)
  else await into.write(to, fs.read(from, undefined, ctx), mode, ctx)
}

async function copyLink(
  fs: FileSystem,
  from: string,
  into: FileSystem,
  to: string,
  ctx?: CallContext,
): Promise<void> {
  if (!isLinkable(fs) || !isLinkable(into)) {
    throw new VfsError('ENOTSUP', to, {
      op: 'copy',
      detail: `the target cannot hold the symbolic link '${from}'`,
    })
  }
  const target = await fs.readlink(from, ctx)
  if (await into.exists(to, ctx)) await into.remove(to, {}, ctx)
  await into.symlink(target, to, ctx)
}

/** The rules of a native rename, for a move that has to copy. */
async function assertReplaceable(
  fs: FileSystem,
  source: Stat,
  to: string,
  overwrite: boolean,
  ctx?: CallContext,
): Promise<void> {
  const target = await statIfPresent(fs, to, ctx)
  if (target === null) return
  if (!overwrite) throw new VfsError('EEXIST', to, { op: 'move' })
  if (target.type === 'directory' && source.type !== 'directory')
    throw new VfsError('EISDIR', to, { op: 'move' })
  if (target.type !== 'directory' && source.type === 'directory')
    throw new VfsError('ENOTDIR', to, { op: 'move' })
  if (target.type !== 'directory') return
  for await (const _ of fs.readdir(to, ctx)) throw new VfsError('ENOTEMPTY', to, { op: 'move' })
}

async function assertNotInside(
  fs: FileSystem,
  source: string,
  target: string,
  op: string,
  ctx?: CallContext,
): Promise<void> {
  // The target may lead back into the source by a link, or out of what looks like it.
  const real = (path: string) => (isLinkable(fs) ? fs.realpath(path, {}, ctx) : path)
  const [realSource, realTarget] = [await real(source), await real(target)]
  if (!isWithin(realTarget, realSource)) return
  throw new VfsError('EINVAL', source, { op, detail: `'${target}' is the same place or lies inside it` })
}

async function removeIfPresent(fs: FileSystem, path: string, ctx?: CallContext): Promise<void> {
  try {
    // Not cancelled with the rest: cleaning up is what cancelling asks for.
    await fs.remove(path, { recursive: true }, withoutSignal(ctx))
  } catch (error) {
    if (!isVfsError(error)) throw error
  }
}
