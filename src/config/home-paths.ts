import { isWithin } from '../vfs/index.ts'

/**
 * Reports whether a path of this machine is a home, or inside it. Both are real paths. Case and Unicode forms do not
 * count, because some disks ignore them.
 */
export function isInsideHome(path: string, home: string): boolean {
  return isWithin(foldPath(path), foldPath(home))
}

/** Reports whether a path of this machine contains a home. */
export function containsHome(path: string, home: string): boolean {
  return isWithin(foldPath(home), foldPath(path))
}

function foldPath(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
