/**
 * Python on any file system: Pyodide's interpreter with its files as a mount, in this thread or in a separate one. Not
 * a sandbox: Python in Pyodide reaches JavaScript, and with it whatever its thread may do. Invariant: no name, size or
 * content is cached here; each system call queries the file system.
 */
export {
  createPython,
  type Python,
  type PythonOptions,
  type PythonResult,
  type PythonRunOptions,
} from './create-python.ts'
export {
  mountInPyodide,
  type PyodideLike,
  type PyodideMount,
  type PyodideMountOptions,
} from './mount-in-pyodide.ts'
export { PythonError } from './python-error.ts'
