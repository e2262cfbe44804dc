import { checkPath, isVfsError } from '../../vfs/index.ts'

/**
 * Limit of the depth. Each level costs time for everything below it, so a few hundred bytes of an archive could take
 * minutes.
 */
const MAX_LEVELS = 256

/** The path of an entry, or the reason to reject it. */
export type EntryLocation = { readonly path: string } | { readonly reason: string }

/**
 * Converts the name of an entry to a path. A leading `./` and a trailing `/` are ignored. A name that could lead
 * outside when unpacked carelessly is rejected.
 */
export function locateEntry(name: string): EntryLocation {
  if (name.startsWith('/')) return { reason: 'the name is absolute' }
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return { reason: "the name leads out with '..'" }
  if (parts.length > MAX_LEVELS)
    return { reason: `the path has ${parts.length} levels; the limit is ${MAX_LEVELS}` }
  try {
    return { path: checkPath(`/${parts.join('/')}`, 'open') }
  } catch (error) {
    if (isVfsError(error)) return { reason: error.detail ?? 'the name cannot be stored' }
    throw error
  }
}
