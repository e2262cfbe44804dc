import { checkPath } from '../../vfs/index.ts'
import { UsageError } from '../framework/usage-error.ts'

/** A path in a vault as the user gave it: a relative one is taken from the root. */
export function parseVaultPath(given: string): string {
  if (given === '') throw new UsageError('a path is empty')
  return checkPath(given.startsWith('/') ? given : `/${given}`)
}
