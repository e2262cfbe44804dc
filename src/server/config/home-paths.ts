import { isWithin } from '../../vfs/index.ts'

/** Whether a path of this machine is a home, or inside it. Both are real; spellings that some disk treats as one match. */
export function isBelow(path: string, home: string): boolean {
  return isWithin(plain(path), plain(home))
}

/** Whether a path of this machine contains a home. */
export function isAround(path: string, home: string): boolean {
  return isWithin(plain(home), plain(path))
}

function plain(path: string): string {
  return path.normalize('NFKC').toLowerCase()
}
