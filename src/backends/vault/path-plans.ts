import { type OperationPlan, planAttributes, toMoment } from '../../store/index.ts'
import {
  assertLinkTarget,
  assertStatChanges,
  basename,
  type CallContext,
  dirname,
  type MkdirOptions,
  type RemoveOptions,
  type RenameOptions,
  type StatChanges,
  VfsError,
} from '../../vfs/index.ts'
import { resolveFollowing, resolveInode, withoutLinks } from './resolve-paths.ts'

/*
 * Plans of the mutations by path, evaluated on the state that they change. The asynchronous and the synchronous face
 * share them.
 */

export function createRenamePlan(
  path: string,
  to: string,
  { overwrite = false }: RenameOptions,
  ctx?: CallContext,
): OperationPlan {
  const route = { op: 'rename', paths: [path, to], followLast: false }
  return withoutLinks(() => ({ op: 'rename', path, to, overwrite }), route, ctx)
}

export function createSymlinkPlan(target: string, path: string, ctx?: CallContext): OperationPlan {
  assertLinkTarget(target)
  const route = { op: 'symlink', paths: [path], followLast: false }
  return withoutLinks(() => ({ op: 'symlink', path, target }), route, ctx)
}

export function createMkdirPlan(
  path: string,
  { parents = false, mode }: MkdirOptions,
  ctx?: CallContext,
): OperationPlan {
  const permissions = mode === undefined ? {} : { mode }
  const route = { op: 'mkdir', paths: [path], followLast: parents }
  return withoutLinks(() => ({ op: 'mkdir', path, parents, ...permissions }), route, ctx)
}

export function createRemovePlan(
  path: string,
  { recursive = false }: RemoveOptions,
  ctx?: CallContext,
): OperationPlan {
  const route = { op: 'remove', paths: [path], followLast: false }
  return withoutLinks(() => ({ op: 'remove', path, recursive }), route, ctx)
}

/** Removes an empty directory. ENOENT, ENOTDIR, ENOTEMPTY. */
export function createRmdirPlan(path: string, ctx?: CallContext): OperationPlan {
  return (files) => {
    const number = resolveInode(files, path, false, 'rmdir', ctx)
    if (files.getInode(number).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'rmdir' })
    if (files.hasEntries(number)) throw new VfsError('ENOTEMPTY', path, { op: 'rmdir' })
    return { op: 'remove', path, recursive: true }
  }
}

/** Creates a hard link. ENOENT, EISDIR, EEXIST, ENOTDIR. */
export function createLinkPlan(existing: string, path: string, ctx?: CallContext): OperationPlan {
  return (files) => {
    const inode = resolveInode(files, existing, false, 'link', ctx)
    if (files.getInode(inode).type === 'directory') {
      throw new VfsError('EISDIR', existing, { op: 'link', detail: 'a directory cannot have hard links' })
    }
    const resolved = resolveFollowing(files, path, false, 'link', ctx)
    if (files.findByPath(resolved) !== undefined) throw new VfsError('EEXIST', path, { op: 'link' })
    const parent = files.findByPath(dirname(resolved))
    if (parent === undefined)
      throw new VfsError('ENOENT', path, { op: 'link', detail: 'the directory is missing; create it first' })
    if (files.getInode(parent).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'link' })
    return { op: 'link', path: resolved, from: files.getPath(inode), inode, parent, name: basename(resolved) }
  }
}

/** Changes metadata. ENOENT, EINVAL. */
export function createSetattrPlan(path: string, changes: StatChanges, ctx?: CallContext): OperationPlan {
  assertStatChanges(path, changes)
  const { mode, mtime, ofLink = false } = changes
  const time = mtime && toMoment(mtime.getTime(), 0).time
  return (files) => {
    const resolved = resolveFollowing(files, path, !ofLink, 'setattr', ctx)
    const number = files.findByPath(resolved)
    if (number === undefined) throw new VfsError('ENOENT', path, { op: 'setattr' })
    if (mode === undefined && time === undefined) return null
    const attributes = { ...(mode !== undefined && { mode }), ...(time !== undefined && { mtime: time }) }
    const { time: now } = toMoment(Date.now(), 0)
    return planAttributes(files.getInode(number), { path: resolved, inode: number }, attributes, now)
  }
}
