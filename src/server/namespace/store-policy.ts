import { realpathSync } from 'node:fs'
import type { Policy } from '../../access/index.ts'
import { isWithin, join, relativeTo } from '../../vfs/index.ts'
import { isStoreFile } from '../config/index.ts'
import type { UserMount } from './user-mounts.ts'

/**
 * Keeps contexts from the files of the store where a mount holds them, reads included; nothing where none does, since
 * a policy on reads has its cost.
 * @param home the directory of the home, if it has one.
 */
export function storePolicies(home: string | undefined, mounts: readonly UserMount[]): Policy[] {
  if (home === undefined) return []
  const real = realpathSync(home)
  const places = mounts.flatMap(({ path, directory }) => {
    const isNear = directory !== undefined && (isWithin(real, directory) || isWithin(directory, real))
    return isNear ? [{ path, directory }] : []
  })
  const isOfStore = (path: string) =>
    places.some((place) => {
      const below = relativeTo(path, place.path)
      return below !== null && isStoreFile(real, join(place.directory, below))
    })
  const judge: Policy['judge'] = ({ path }) =>
    isOfStore(path) ? 'Coppice keeps its store there, which nobody else may open' : null
  return places.length === 0 ? [] : [{ name: 'store', judges: 'everything', judge }]
}
