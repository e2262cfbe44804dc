import { VfsError } from '../../vfs/index.ts'
import type { BlobRow } from '../engine.ts'
import { isDeltaBlob } from '../segments/delta-row.ts'
import { isSegmentBlob } from '../segments/segment-row.ts'

/** Format of a new store. */
export const FIRST_FORMAT = 1
/** Format of a store with content in segments. Versions that know no segments refuse to open it. */
export const SEGMENT_FORMAT = 2
/** Format of a store with content as differences from other content. */
export const DELTA_FORMAT = 3

/** Returns the format that a store with these rows has. */
export function getNeededFormat(blobs: readonly Pick<BlobRow, 'id'>[]): number {
  let format = FIRST_FORMAT
  for (const { id } of blobs) {
    if (isDeltaBlob(id)) return DELTA_FORMAT
    if (isSegmentBlob(id)) format = SEGMENT_FORMAT
  }
  return format
}

/** Throws ENOTSUP for a format that this version does not know, such as that of a later version. */
export function assertFormat(path: string, found: number, latest: number = DELTA_FORMAT): void {
  if (found >= FIRST_FORMAT && found <= latest) return
  const detail = `the store has format ${found}, this version knows ${latest}; update coppice`
  throw new VfsError('ENOTSUP', path, { op: 'open', detail })
}
