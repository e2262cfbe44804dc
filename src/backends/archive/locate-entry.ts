import { checkPath, isVfsError } from '../../vfs/index.ts'

/** Each level is walked again for all that lies below it, so a few hundred bytes of an archive could cost minutes. */
const MAX_LEVELS = 256

/** Where an entry belongs, or why nowhere. */
export type EntryLocation = { readonly path: string } | { readonly reason: string }

/**
 * The path of an entry by the name its archive gives it. A leading `./` and a trailing `/` mean nothing. Whatever
 * would lead elsewhere when the archive is unpacked by a careless program has no place.
 */
export function locateEntry(name: string): EntryLocation {
  if (name.startsWith('/')) return { reason: 'its name is absolute' }
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return { reason: "its name leads out with '..'" }
  if (parts.length > MAX_LEVELS)
    return { reason: `it lies ${parts.length} levels deep; the limit is ${MAX_LEVELS}` }
  try {
    return { path: checkPath(`/${parts.join('/')}`, 'open') }
  } catch (error) {
    if (isVfsError(error)) return { reason: error.detail ?? 'its name cannot be stored' }
    throw error
  }
}
