import { realpathSync } from 'node:fs'
import { isWithin, VfsError } from '../../vfs/index.ts'

/** Trees of the kernel, which store no files. */
const KERNEL_TREES: readonly string[] = ['/proc', '/sys', '/dev']
/** A file system in memory, usable like a disk. */
const SHARED_MEMORY = '/dev/shm'

/**
 * Resolves the real path of the directory that a session covers or copies. Throws ENOENT if it is missing, EINVAL for a
 * tree of the kernel, and for `/`, which no overlay can cover: a command would change the machine itself.
 */
export async function resolveBaseDirectory(lower: string): Promise<string> {
  const path = realpathSync.native(lower)
  if (path === '/') throw createBaseError(path, 'a command would run on the machine itself')
  const isOfKernel = KERNEL_TREES.some((tree) => isWithin(path, tree)) && !isWithin(path, SHARED_MEMORY)
  if (isOfKernel) throw createBaseError(path, 'the kernel stores no files there')
  return path
}

function createBaseError(path: string, reason: string): VfsError {
  const detail = `${path} cannot be a workspace: ${reason}; change to the directory of the project`
  return new VfsError('EINVAL', path, { op: 'session', detail })
}
