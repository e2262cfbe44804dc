import { VfsError } from '../../vfs/index.ts'

type PyodidePackage = typeof import('pyodide')

/** Loads the optional package. ENOTSUP with the package to install. */
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
