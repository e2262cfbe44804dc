import { isVfsError, type SyncStat } from '../../vfs/index.ts'
import { attributesOf, modeOf } from './attributes.ts'
import type { AttributeChanges, FsNode, NodeOps } from './emscripten.ts'
import { errno } from './errno.ts'
import type { MountedFiles } from './mounted-files.ts'

const PERMISSIONS = 0o7777

/** What the interpreter does with names and metadata. */
export function nodeOperations(files: MountedFiles): NodeOps {
  return { ...namesOf(files), ...metadataOf(files), ...linksOf(files) }
}

function namesOf(
  files: MountedFiles,
): Pick<NodeOps, 'lookup' | 'readdir' | 'mknod' | 'unlink' | 'rmdir' | 'rename'> {
  const { sync, ctx } = files
  return {
    lookup: (parent, name) => files.attempt(() => files.lookup(parent, name)),
    readdir: (node) =>
      files.attempt(() => {
        const entries = sync.readdir(files.pathOf(node), ctx)
        return ['.', '..', ...entries.map((entry) => entry.name)]
      }),
    mknod: (parent, name, mode) => files.attempt(() => made(files, parent, name, mode)),
    unlink: (parent, name) => files.attempt(() => sync.remove(files.childOf(parent, name), {}, ctx)),
    rmdir: (parent, name) => files.attempt(() => sync.rmdir(files.childOf(parent, name), ctx)),
    rename: (node, parent, name) =>
      files.attempt(() => {
        rename(files, files.pathOf(node), files.childOf(parent, name))
        files.hideRenamed(node)
      }),
  }
}

function metadataOf(files: MountedFiles): Pick<NodeOps, 'getattr' | 'setattr'> {
  return {
    getattr: (node) =>
      files.attempt(() => attributesOf(files.sync.stat(files.pathOf(node), files.ctx), files.device)),
    setattr: (node, changes) => files.attempt(() => change(files, node, changes)),
  }
}

function linksOf(files: MountedFiles): Pick<NodeOps, 'symlink' | 'readlink' | 'link'> {
  const { sync, ctx } = files
  return {
    symlink: (parent, name, target) =>
      files.attempt(() => {
        sync.symlink(storedTarget(files, parent.mount.mountpoint, target), files.childOf(parent, name), ctx)
        return files.lookup(parent, name)
      }),
    readlink: (node) =>
      files.attempt(() => {
        const target = sync.readlink(files.pathOf(node), ctx)
        return target.startsWith('/') ? `${node.mount.mountpoint}${target}` : target
      }),
    link: (node, parent, name) =>
      files.attempt(() => sync.link(files.pathOf(node), files.childOf(parent, name), ctx)),
  }
}

/** The runtime opens a new file in the same system call, and then gives it the permissions that were asked for. */
function made(files: MountedFiles, parent: FsNode, name: string, mode: number): FsNode {
  const { sync, ctx, runtime, umask } = files
  const path = files.childOf(parent, name)
  if (runtime.isDir(mode)) {
    sync.mkdir(path, { mode: mode & PERMISSIONS & ~umask }, ctx)
    return files.node(parent, name, mode)
  }
  if (!runtime.isFile(mode)) throw files.failure(errno('EPERM'))
  const handle = sync.open(path, { write: true, create: true }, ctx)
  const node = files.node(parent, name, mode)
  files.keepMade(node, handle)
  return node
}

/** Two names of one file stay as they are, as in POSIX. */
function rename(files: MountedFiles, from: string, to: string): void {
  const { sync, ctx } = files
  if (from === to) return
  const target = statIfPresent(files, to)
  if (target !== undefined && target.nlink > 1 && target.ino === sync.stat(from, ctx).ino) return
  sync.rename(from, to, { overwrite: true }, ctx)
}

function statIfPresent({ sync, ctx }: MountedFiles, path: string): SyncStat | undefined {
  try {
    return sync.stat(path, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return undefined
    throw error
  }
}

/** The runtime has followed links already: what a node names is what is meant. */
function change(files: MountedFiles, node: FsNode, { size, mode, mtime }: AttributeChanges): void {
  const path = files.pathOf(node)
  if (size !== undefined) truncate(files, path, size)
  if (mode !== undefined && files.isNewborn(node)) setFirstMode(files, path, mode)
  else if (mode !== undefined) setMode(files, path, mode & PERMISSIONS)
  if (mtime != null) files.sync.setattr(path, { mtime: new Date(mtime), ofLink: true }, files.ctx)
}

function truncate({ sync, ctx }: MountedFiles, path: string, size: number): void {
  const handle = sync.open(path, { write: true, truncate: size === 0 }, ctx)
  try {
    if (size > 0) handle.truncate(size)
  } finally {
    handle.close()
  }
}

/** What the program that made a file wants it to have, less what is masked; nothing where that cannot be set. */
function setFirstMode(files: MountedFiles, path: string, mode: number): void {
  try {
    setMode(files, path, mode & PERMISSIONS & ~files.umask)
  } catch (error) {
    if (!isVfsError(error, 'ENOTSUP')) throw error
  }
}

/** Where a file system has no permissions, setting them is not an error, as on any disk without them. */
function setMode({ sync, ctx }: MountedFiles, path: string, mode: number): void {
  const stat = sync.stat(path, ctx)
  if (stat.mode === null || (modeOf(stat) & PERMISSIONS) === mode) return
  sync.setattr(path, { mode, ofLink: true }, ctx)
}

/** An absolute target counts from the root of the file system, whatever it is mounted at. EXDEV for one outside. */
function storedTarget(files: MountedFiles, mountpoint: string, target: string): string {
  if (!target.startsWith('/')) return target
  if (target === mountpoint) return '/'
  if (!target.startsWith(`${mountpoint}/`)) throw files.failure(errno('EXDEV'))
  return target.slice(mountpoint.length)
}
