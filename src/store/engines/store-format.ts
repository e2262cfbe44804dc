import { VfsError } from '../../vfs/index.ts'

/** Format of a new store. */
export const FIRST_FORMAT = 1
/** Format of a store with content in segments. Versions that know no segments refuse to open it. */
export const SEGMENT_FORMAT = 2

/** Throws ENOTSUP for a format that this version does not know, such as that of a later version. */
export function assertFormat(path: string, found: number, latest: number = SEGMENT_FORMAT): void {
  if (found >= FIRST_FORMAT && found <= latest) return
  const detail = `the store has format ${found}, this version knows ${latest}; update coppice`
  throw new VfsError('ENOTSUP', path, { op: 'open', detail })
}
