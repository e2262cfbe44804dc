import { isVfsError, type SyncStat } from '../../vfs/index.ts'
import type { FsAttributeChanges, FsNode, NodeOps } from './emscripten.ts'
import { getErrno } from './errno.ts'
import type { MountedFiles } from './mounted-files.ts'
import { toAttributes, toMode } from './stat-attributes.ts'

const PERMISSIONS = 0o7777

/** Creates the operations on names and metadata. */
export function createNodeOperations(files: MountedFiles): NodeOps {
  return {
    ...createNameOperations(files),
    ...createMetadataOperations(files),
    ...createLinkOperations(files),
  }
}

function createNameOperations(
  files: MountedFiles,
): Pick<NodeOps, 'lookup' | 'readdir' | 'mknod' | 'unlink' | 'rmdir' | 'rename'> {
  const { sync, ctx } = files
  return {
    lookup: (parent, name) => files.attempt(() => files.lookup(parent, name)),
    readdir: (node) =>
      files.attempt(() => {
        const entries = sync.readdir(files.getPath(node), ctx)
        return ['.', '..', ...entries.map((entry) => entry.name)]
      }),
    mknod: (parent, name, mode) => files.attempt(() => createNode(files, parent, name, mode)),
    unlink: (parent, name) => files.attempt(() => sync.remove(files.getChildPath(parent, name), {}, ctx)),
    rmdir: (parent, name) => files.attempt(() => sync.rmdir(files.getChildPath(parent, name), ctx)),
    rename: (node, parent, name) =>
      files.attempt(() => {
        rename(files, files.getPath(node), files.getChildPath(parent, name))
        files.hideRenamed(node)
      }),
  }
}

function createMetadataOperations(files: MountedFiles): Pick<NodeOps, 'getattr' | 'setattr'> {
  return {
    getattr: (node) =>
      files.attempt(() => toAttributes(files.sync.stat(files.getPath(node), files.ctx), files.device)),
    setattr: (node, changes) => files.attempt(() => changeAttributes(files, node, changes)),
  }
}

function createLinkOperations(files: MountedFiles): Pick<NodeOps, 'symlink' | 'readlink' | 'link'> {
  const { sync, ctx } = files
  return {
    symlink: (parent, name, target) =>
      files.attempt(() => {
        sync.symlink(
          toStoredTarget(files, parent.mount.mountpoint, target),
          files.getChildPath(parent, name),
          ctx,
        )
        return files.lookup(parent, name)
      }),
    readlink: (node) =>
      files.attempt(() => {
        const target = sync.readlink(files.getPath(node), ctx)
        return target.startsWith('/') ? `${node.mount.mountpoint}${target}` : target
      }),
    link: (node, parent, name) =>
      files.attempt(() => sync.link(files.getPath(node), files.getChildPath(parent, name), ctx)),
  }
}

/** Creates a file or directory. The runtime opens a file in the same system call, and then sets its permissions. */
function createNode(files: MountedFiles, parent: FsNode, name: string, mode: number): FsNode {
  const { sync, ctx, runtime, umask } = files
  const path = files.getChildPath(parent, name)
  if (runtime.isDir(mode)) {
    sync.mkdir(path, { mode: mode & PERMISSIONS & ~umask }, ctx)
    return files.createNode(parent, name, mode)
  }
  if (!runtime.isFile(mode)) throw files.createErrnoError(getErrno('EPERM'))
  const handle = sync.open(path, { write: true, create: true }, ctx)
  const node = files.createNode(parent, name, mode)
  files.keepCreated(node, handle)
  return node
}

/** Renames; two names of one file stay as they are, as in POSIX. */
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

/** Changes attributes without following links: the runtime has already done so. */
function changeAttributes(
  files: MountedFiles,
  node: FsNode,
  { size, mode, mtime }: FsAttributeChanges,
): void {
  const path = files.getPath(node)
  if (size !== undefined) truncate(files, path, size)
  if (mode !== undefined && files.takeFirstMode(node)) setFirstMode(files, path, mode)
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

/** Sets the mode of a new file less the umask; ignored if modes are not supported. */
function setFirstMode(files: MountedFiles, path: string, mode: number): void {
  try {
    setMode(files, path, mode & PERMISSIONS & ~files.umask)
  } catch (error) {
    if (!isVfsError(error, 'ENOTSUP')) throw error
  }
}

/** Sets a mode; ignored by a file system without permissions, as on any such disk. */
function setMode({ sync, ctx }: MountedFiles, path: string, mode: number): void {
  const stat = sync.stat(path, ctx)
  if (stat.mode === null || (toMode(stat) & PERMISSIONS) === mode) return
  sync.setattr(path, { mode, ofLink: true }, ctx)
}

/** Converts a link target: an absolute one counts from the file system's root. EXDEV if it is outside the mount. */
function toStoredTarget(files: MountedFiles, mountpoint: string, target: string): string {
  if (!target.startsWith('/')) return target
  if (target === mountpoint) return '/'
  if (!target.startsWith(`${mountpoint}/`)) throw files.createErrnoError(getErrno('EXDEV'))
  return target.slice(mountpoint.length)
}
