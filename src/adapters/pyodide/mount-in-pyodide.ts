import {
  type CallContext,
  checkPath,
  type FileSystem,
  isSynchronous,
  type SyncFileSystem,
  VfsError,
} from '../../vfs/index.ts'
import type { EmscriptenFs, ErrnoError, FsMount, FsNode, Mapping } from './emscripten.ts'
import { toErrorCode } from './errno.ts'
import { type PythonRunner, provideHardLinks } from './hard-links.ts'
import { MountedFiles } from './mounted-files.ts'
import { createNodeOperations } from './node-operations.ts'
import { createStreamOperations, type MapBytes } from './stream-operations.ts'

/** WASI's number, which the runtime throws for a mount point. No code of ours has it. */
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
 * `createPython` mounts; EINVAL for `/`, EEXIST if the path is a mount already, ENOTDIR if it is no directory, and the code
 * of the file system around the path, such as EROFS, if that refuses to create it.
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
  const detach = attach(FS, mountPoint, () => files.mount({ node, stream }))
  provideHardLinks(pyodide)
  let isMounted = true
  const unmount = () => {
    if (isMounted) detach()
    isMounted = false
  }
  return { path: mountPoint, unmount, [Symbol.dispose]: unmount }
}

/** Mounts a root in the runtime. Returns the function that unmounts it. */
function attach(FS: EmscriptenFs, mountPoint: string, createRoot: () => FsNode): () => void {
  try {
    FS.mkdirTree(mountPoint)
    const { mount } = FS.mount({ mount: createRoot }, {}, mountPoint)
    const covered = FS.lookupPath(mountPoint, { follow_mount: false }).node
    return () => {
      if (findMounted(FS, mountPoint) === mount) return FS.unmount(mountPoint)
      // The path leads elsewhere: the mount around it was unmounted, another one covers it, or the directory is gone.
      covered.mounted = null
      covered.mount.mounts = covered.mount.mounts.filter((inner) => inner !== mount)
    }
  } catch (error) {
    throw error instanceof FS.ErrnoError ? createMountError(mountPoint, error) : error
  }
}

/** Returns what is mounted at a path; undefined if nothing is, or the path is gone. */
function findMounted(FS: EmscriptenFs, path: string): FsMount | undefined {
  try {
    return FS.lookupPath(path, { follow_mount: false }).node.mounted ?? undefined
  } catch (error) {
    if (error instanceof FS.ErrnoError) return undefined
    throw error
  }
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
  if (errno === EBUSY)
    return new VfsError('EEXIST', path, { op: 'mount', detail: 'another file system is mounted there' })
  const code = toErrorCode(errno)
  const detail =
    code === 'ENOTDIR' ? 'the mount point is not a directory' : 'the mount point cannot be created'
  return new VfsError(code, path, { op: 'mount', detail })
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
