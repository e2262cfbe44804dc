import { momentOf, type Plan, planAttributes } from '../../store/index.ts'
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
import { linkFree, numberAt, resolved } from './link-free.ts'

/*
 * What each mutation by path does, decided on the very files it changes: the same for callers that wait and for
 * those that cannot.
 */

export function renamePlan(
  path: string,
  to: string,
  { overwrite = false }: RenameOptions,
  ctx?: CallContext,
): Plan {
  const route = { op: 'rename', paths: [path, to], followLast: false }
  return linkFree(() => ({ op: 'rename', path, to, overwrite }), route, ctx)
}

export function symlinkPlan(target: string, path: string, ctx?: CallContext): Plan {
  assertLinkTarget(target)
  const route = { op: 'symlink', paths: [path], followLast: false }
  return linkFree(() => ({ op: 'symlink', path, target }), route, ctx)
}

export function mkdirPlan(path: string, { parents = false, mode }: MkdirOptions, ctx?: CallContext): Plan {
  const permissions = mode === undefined ? {} : { mode }
  const route = { op: 'mkdir', paths: [path], followLast: parents }
  return linkFree(() => ({ op: 'mkdir', path, parents, ...permissions }), route, ctx)
}

export function removePlan(path: string, { recursive = false }: RemoveOptions, ctx?: CallContext): Plan {
  const route = { op: 'remove', paths: [path], followLast: false }
  return linkFree(() => ({ op: 'remove', path, recursive }), route, ctx)
}

/** Removes a directory that is empty. ENOENT, ENOTDIR, ENOTEMPTY. */
export function rmdirPlan(path: string, ctx?: CallContext): Plan {
  return (files) => {
    const number = numberAt(files, path, false, 'rmdir', ctx)
    if (files.inode(number).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'rmdir' })
    if (files.hasEntries(number)) throw new VfsError('ENOTEMPTY', path, { op: 'rmdir' })
    return { op: 'remove', path, recursive: true }
  }
}

/** A second name for a file. ENOENT, EISDIR, EEXIST, ENOTDIR. */
export function linkPlan(existing: string, path: string, ctx?: CallContext): Plan {
  return (files) => {
    const inode = numberAt(files, existing, false, 'link', ctx)
    if (files.inode(inode).type === 'directory') {
      throw new VfsError('EISDIR', existing, { op: 'link', detail: 'a directory has one name' })
    }
    const at = resolved(files, path, false, 'link', ctx)
    if (files.find(at) !== undefined) throw new VfsError('EEXIST', path, { op: 'link' })
    const parent = files.find(dirname(at))
    if (parent === undefined)
      throw new VfsError('ENOENT', path, { op: 'link', detail: 'its directory is missing' })
    if (files.inode(parent).type !== 'directory') throw new VfsError('ENOTDIR', path, { op: 'link' })
    return { op: 'link', path: at, from: files.pathOf(inode), inode, parent, name: basename(at) }
  }
}

/** Changes metadata. ENOENT, EINVAL. */
export function attributesPlan(path: string, changes: StatChanges, ctx?: CallContext): Plan {
  assertStatChanges(path, changes)
  const { mode, mtime, ofLink = false } = changes
  const time = mtime && momentOf(mtime.getTime(), 0).time
  return (files) => {
    const at = resolved(files, path, !ofLink, 'setattr', ctx)
    const number = files.find(at)
    if (number === undefined) throw new VfsError('ENOENT', path, { op: 'setattr' })
    if (mode === undefined && time === undefined) return null
    const given = { ...(mode !== undefined && { mode }), ...(time !== undefined && { mtime: time }) }
    const { time: now } = momentOf(Date.now(), 0)
    return planAttributes(files.inode(number), { path: at, inode: number }, given, now)
  }
}
