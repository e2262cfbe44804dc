import type { EmscriptenFs } from './emscripten.ts'
import { getErrno, toErrno } from './errno.ts'

/** The part of Pyodide needed to add a function to a Python module. */
export interface PythonRunner {
  readonly FS: EmscriptenFs
  runPython(code: string): unknown
}

/** Python code that adds `os.link`, for which Emscripten has no system call. */
const PROVIDE_LINK = `
def _provide(link):
    import os

    def os_link(src, dst, *, src_dir_fd=None, dst_dir_fd=None, follow_symlinks=True):
        if src_dir_fd is not None or dst_dir_fd is not None:
            raise NotImplementedError("link: dir_fd unavailable on this platform")
        source, target = os.fspath(src), os.fspath(dst)
        errno = link(os.path.abspath(os.fsdecode(source)), os.path.abspath(os.fsdecode(target)))
        if errno != 0:
            raise OSError(errno, os.strerror(errno), source, None, target)

    os_link.__name__ = os_link.__qualname__ = "link"
    os.link = os_link

_provide
`

const provided = new WeakSet<PythonRunner>()

/** Adds `os.link` to Python, once. It works in mounts of this adapter; elsewhere it is EPERM. */
export function provideHardLinks(pyodide: PythonRunner): void {
  if (provided.has(pyodide)) return
  provided.add(pyodide)
  const provide = pyodide.runPython(PROVIDE_LINK)
  if (typeof provide === 'function') {
    provide((existing: string, path: string) => linkNodes(pyodide.FS, existing, path))
  }
}

/** Links nodes; returns 0 or the error number. */
function linkNodes(runtime: EmscriptenFs, existing: string, path: string): number {
  try {
    const { node } = runtime.lookupPath(existing, {})
    const directory = runtime.lookupPath(path, { parent: true }).node
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (node.mount !== directory.mount) return getErrno('EXDEV')
    const link = directory.node_ops?.link
    if (link === undefined) return getErrno('EPERM')
    link(node, directory, name)
    return 0
  } catch (error) {
    return error instanceof runtime.ErrnoError ? error.errno : toErrno(error)
  }
}
