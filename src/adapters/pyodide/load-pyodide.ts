import { VfsError } from '../../vfs/index.ts'

type PyodidePackage = typeof import('pyodide')

/** The package, loaded when the first interpreter is made. ENOTSUP with what to install where it is not. */
export async function loadPyodidePackage(
  load: () => Promise<PyodidePackage> = () => import('pyodide'),
): Promise<PyodidePackage> {
  try {
    return await load()
  } catch (cause) {
    const detail = "the package 'pyodide' is needed: npm install pyodide"
    throw new VfsError('ENOTSUP', '/', { op: 'load', detail, cause })
  }
}
