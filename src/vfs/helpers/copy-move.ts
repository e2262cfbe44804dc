import { isVfsError, VfsError } from '../error.ts'
import { withoutSignal } from '../events.ts'
import type { CallContext, FileSystem, Stat } from '../file-system.ts'
import { checkPath, child, isWithin } from '../path.ts'
import { isAttributed, isLinkable, isRenamable, type RenameOptions } from '../protocols.ts'
import { statIfPresent } from './stat-if-present.ts'

/** Options of `copy`. */
export interface CopyOptions {
  /** Replace files at the target and merge directories. EEXIST when absent. */
  readonly overwrite?: boolean
  /** The file system of the target path. The source's own when absent. */
  readonly into?: FileSystem
}

/** Options of `move`. */
export interface MoveOptions extends RenameOptions {
  /** Copy and remove where a rename is impossible: from one mount to another. EXDEV when absent. */
  readonly across?: boolean
}

/**
 * Copies a file or a tree as a stream, links as links. A failed copy leaves no part of a new target behind.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/src/a.ts': 'a' })
 * await copy(fs, '/src', '/backup')
 * assert.ok(await fs.exists('/backup/a.ts'))
 * ```
 */
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
  const targetExists = await into.exists(target, ctx)
  if (targetExists && !overwrite) throw new VfsError('EEXIST', target, { op: 'copy' })
  const opened: OpenedDirectory[] = []
  try {
    await copyTree(fs, { from: source, to: target, stat }, into, opened, ctx)
    await closeDirectories(into, opened, ctx)
  } catch (error) {
    if (!targetExists) await removeIfPresent(into, target, ctx)
    // Without the signal: what a cancelled copy leaves must not be open to its owner where the source is not.
    else await tolerateFailure(closeDirectories(into, opened, withoutSignal(ctx)))
    throw error
  }
}

/**
 * Moves a file or a tree, by rename if the file system supports it. The source stays if a copy fails.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/old.txt': 'a' })
 * await move(fs, '/old.txt', '/new.txt')
 * assert.equal(await fs.exists('/old.txt'), false)
 * ```
 */
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

const OWNER_BITS = 0o700

interface CopyPair {
  readonly from: string
  readonly to: string
  readonly stat: Stat
}

/** A new directory that its owner may write until its entries are copied, and the permissions that it then gets. */
interface OpenedDirectory {
  readonly path: string
  readonly mode: number
}

/**
 * Copies a tree directory by directory. A walk would skip unreadable paths, and a copy must not.
 * @param opened gets the directories to close afterwards.
 */
async function copyTree(
  fs: FileSystem,
  whole: CopyPair,
  into: FileSystem,
  opened: OpenedDirectory[],
  ctx?: CallContext,
): Promise<void> {
  const pending = [whole]
  for (let pair = pending.pop(); pair; pair = pending.pop()) {
    const { from, to, stat } = pair
    // Listed before the copy is created, because a link may place the copy inside this directory.
    const names = stat.type === 'directory' ? await Array.fromAsync(fs.readdir(from, ctx)) : []
    const finalMode = await findFinalMode(into, to, stat, ctx)
    if (finalMode === undefined) await copyEntry(fs, from, stat, into, to, ctx)
    else {
      await into.mkdir(to, { parents: true, mode: finalMode | OWNER_BITS }, ctx)
      opened.push({ path: to, mode: finalMode })
    }
    for (const { name } of names) {
      const childPath = child(from, name)
      pending.push({ from: childPath, to: child(to, name), stat: await fs.stat(childPath, ctx) })
    }
  }
}

async function closeDirectories(
  fs: FileSystem,
  opened: readonly OpenedDirectory[],
  ctx?: CallContext,
): Promise<void> {
  // The deepest first: a directory may deny access to those in it.
  for (const { path, mode } of opened.toReversed()) await setMode(fs, path, mode, ctx)
}

async function setMode(fs: FileSystem, path: string, mode: number, ctx?: CallContext): Promise<void> {
  try {
    if (isAttributed(fs)) await fs.setattr(path, { mode }, ctx)
  } catch (error) {
    // A mount table has the method, even if the mount of the path cannot set attributes.
    if (!isVfsError(error, 'ENOTSUP')) throw error
  }
}

/** Returns the permissions that a new directory gets once its entries are written, if they would not allow that. */
async function findFinalMode(
  into: FileSystem,
  path: string,
  { type, mode }: Stat,
  ctx?: CallContext,
): Promise<number | undefined> {
  if (type !== 'directory' || mode === null || (mode & OWNER_BITS) === OWNER_BITS) return undefined
  return isAttributed(into) && !(await into.exists(path, ctx)) ? mode : undefined
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
      detail: `the target file system cannot store the symbolic link '${from}'`,
    })
  }
  const target = await fs.readlink(from, ctx)
  if (await into.exists(to, ctx)) await into.remove(to, {}, ctx)
  await into.symlink(target, to, ctx)
}

/** Throws as a native rename would if a move may not replace its target: EEXIST, EISDIR, ENOTDIR, ENOTEMPTY. */
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
  // Compare real paths: a link may lead the target into the source, or out of a path that looks inside it.
  const real = (path: string) => (isLinkable(fs) ? fs.realpath(path, {}, ctx) : path)
  const [realSource, realTarget] = [await real(source), await real(target)]
  if (!isWithin(realTarget, realSource)) return
  throw new VfsError('EINVAL', source, {
    op,
    detail: `'${target}' is the same path or lies inside it; name another target`,
  })
}

async function removeIfPresent(fs: FileSystem, path: string, ctx?: CallContext): Promise<void> {
  // Without the signal: a cancelled copy must still be cleaned up.
  await tolerateFailure(fs.remove(path, { recursive: true }, withoutSignal(ctx)))
}

/** Waits for a cleanup. The error before it is the one to report. */
async function tolerateFailure(cleanup: Promise<void>): Promise<void> {
  try {
    await cleanup
  } catch (error) {
    if (!isVfsError(error)) throw error
  }
}
