import { checkPath, isVfsError } from '../../vfs/index.ts'

/** Where an entry belongs, or why nowhere. */
export type EntryPlace = { readonly path: string } | { readonly reason: string }

/**
 * The path of an entry by the name its archive gives it. A leading `./` and a trailing `/` mean nothing. Whatever
 * would lead elsewhere when the archive is unpacked by a careless program has no place.
 */
export function entryPlace(name: string): EntryPlace {
  if (name.startsWith('/')) return { reason: 'its name is absolute' }
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return { reason: "its name leads out with '..'" }
  try {
    return { path: checkPath(`/${parts.join('/')}`, 'open') }
  } catch (error) {
    if (isVfsError(error)) return { reason: error.detail ?? 'its name cannot be stored' }
    throw error
  }
}
