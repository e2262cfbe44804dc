import { strict, VfsError } from '../../vfs/index.ts'

const SCHEME = /^[a-z][a-z0-9+.-]*:/i

/**
 * Validates an absolute path of this machine that an agent gave, and returns it unchanged. EINVAL for anything else. No path
 * is repaired: `..`, `~`, a URI and a relative path may all mean another file than intended.
 */
export function assertHostPath(path: string): string {
  const problem = findPathProblem(path)
  if (problem === undefined) return strict(path)
  throw new VfsError('EINVAL', path, { op: 'locate', detail: problem })
}

function findPathProblem(path: string): string | undefined {
  // `strict` reports these: it refuses `..` and an empty path.
  if (path.startsWith('/') || path === '') return undefined
  if (/^file:/i.test(path)) return 'file: URIs are not supported; give an absolute path'
  if (SCHEME.test(path)) return 'neither a vfs:/// URI nor a path of this machine'
  if (path.startsWith('~')) return "'~' is not expanded; give an absolute path"
  return 'the path is relative; give a vfs:/// URI, or an absolute path of this machine'
}
