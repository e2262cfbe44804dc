import { checkPath } from '../../vfs/index.ts'
import { UsageError } from '../framework/usage-error.ts'

/**
 * Parses a path in a vault. A relative path starts at the root. UsageError if it is empty; EINVAL if no vault can
 * store it.
 */
export function parseVaultPath(given: string): string {
  if (given === '') throw new UsageError('the path is empty; name a file or directory')
  return checkPath(given.startsWith('/') ? given : `/${given}`)
}
