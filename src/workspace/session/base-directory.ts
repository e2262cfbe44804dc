import { realpath } from 'node:fs/promises'
import { isWithin, VfsError } from '../../vfs/index.ts'

/** Trees of the kernel, where nothing can be kept. */
const KERNEL_TREES: readonly string[] = ['/proc', '/sys', '/dev']
/** Memory that is a disk like any other. */
const SHARED_MEMORY = '/dev/shm'

/**
 * The real path of the directory that a session covers or copies. ENOENT, and EINVAL for what can be neither: over the
 * root nothing can be mounted, so that a command would change the machine itself.
 */
export async function resolveBaseDirectory(lower: string): Promise<string> {
  const path = await realpath(lower)
  if (path === '/') throw createBaseError(path, 'a command would run on the machine itself')
  const isOfKernel = KERNEL_TREES.some((tree) => isWithin(path, tree)) && !isWithin(path, SHARED_MEMORY)
  if (isOfKernel) throw createBaseError(path, 'nothing can be kept there')
  return path
}

function createBaseError(path: string, reason: string): VfsError {
  const detail = `${path} cannot be a workspace: ${reason}; change to the directory that the command is about`
  return new VfsError('EINVAL', path, { op: 'session', detail })
}
