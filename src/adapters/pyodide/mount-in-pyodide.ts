import {
  type CallContext,
  checkPath,
  type FileSystem,
  isSynchronous,
  type SyncFileSystem,
  VfsError,
} from '../../vfs/index.ts'
import type { EmscriptenFs, ErrnoError, FsNode, Mapping } from './emscripten.ts'
import { type PythonRunner, provideHardLinks } from './hard-links.ts'
import { MountedFiles } from './mounted-files.ts'
import { createNodeOperations } from './node-operations.ts'
import { createStreamOperations, type MapBytes } from './stream-operations.ts'

const EBUSY = 10

/** The part of Pyodide that a mount needs: the object from `loadPyodide`. */
export interface PyodideLike extends PythonRunner {
  readonly FS: EmscriptenFs & { readonly filesystems: { readonly MEMFS: MemoryMapper } }
}

/** Options of `mountInPyodide`. */
export interface PyodideMountOptions {
  /** Context of every call, for policies and journals. */
  readonly ctx?: CallContext
  /** Permission bits removed from files and directories created by Python; 0o022 when absent. */
  readonly umask?: number
}

/** A file system in an interpreter, until it is unmounted. */
export interface PyodideMount extends Disposable {
  readonly path: string
  unmount(): void
}

/**
 * Mounts a file system in Pyodide at a path, which is created if missing. Python's system calls go to it directly:
 * nothing is copied, and each side sees the other's changes at once. ENOTSUP for an asynchronous file system, which
 * `createPython` mounts; EINVAL for `/`, EEXIST if the path is a mount already, ENOTDIR if it is no directory.
 */
export function mountInPyodide(
  pyodide: PyodideLike,
  fs: FileSystem | SyncFileSystem,
  path: string,
  options: PyodideMountOptions = {},
): PyodideMount {
  const { FS } = pyodide
  const mountPoint = assertMountPoint(path)
  const files = new MountedFiles(FS, requireSync(fs, mountPoint), options)
  const node = createNodeOperations(files)
  const stream = createStreamOperations(files, createMapper(FS.filesystems.MEMFS))
  try {
    FS.mkdirTree(mountPoint)
    FS.mount({ mount: (): FsNode => files.mount({ node, stream }) }, {}, mountPoint)
  } catch (error) {
    throw error instanceof FS.ErrnoError ? createMountError(mountPoint, error) : error
  }
  provideHardLinks(pyodide)
  let isMounted = true
  const unmount = () => {
    if (isMounted) FS.unmount(mountPoint)
    isMounted = false
  }
  return { path: mountPoint, unmount, [Symbol.dispose]: unmount }
}

function assertMountPoint(path: string): string {
  const mountPoint = checkPath(path, 'mount')
  if (mountPoint !== '/') return mountPoint
  throw new VfsError('EINVAL', mountPoint, {
    op: 'mount',
    detail: 'Python has its own files at this path; mount below it',
  })
}

function createMountError(path: string, { errno }: ErrnoError): VfsError {
  const detail =
    errno === EBUSY ? 'another file system is mounted there' : 'the mount point is not a directory'
  return new VfsError(errno === EBUSY ? 'EEXIST' : 'ENOTDIR', path, { op: 'mount', detail })
}

function requireSync(fs: FileSystem | SyncFileSystem, path: string): SyncFileSystem {
  if (!('capabilities' in fs)) return fs
  if (isSynchronous(fs)) return fs.sync
  const detail = 'this file system has no synchronous interface; mount it with createPython'
  throw new VfsError('ENOTSUP', path, { op: 'mount', detail })
}

/** Memory mapping of the interpreter's own file system, which alone can allocate memory. */
interface MemoryMapper {
  readonly stream_ops: {
    mmap(
      stream: { readonly node: { readonly mode: number; readonly contents: Uint8Array } },
      length: number,
      position: number,
      prot: number,
      flags: number,
    ): Mapping
  }
}

const REGULAR_FILE = 0o100644
const MAP_PRIVATE = 2

function createMapper({ stream_ops }: MemoryMapper): MapBytes {
  return (bytes) =>
    stream_ops.mmap({ node: { mode: REGULAR_FILE, contents: bytes } }, bytes.length, 0, 0, MAP_PRIVATE)
}
