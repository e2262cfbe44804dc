import { VfsError } from '../../vfs/index.ts'
import { chain, type MaybePromise } from '../maybe-promise.ts'
import { decodeSegmentRow, type SegmentReference } from './segment-row.ts'
import type { SegmentStore } from './segment-store.ts'

/** Limit of repeated reads of one row: a collection may move the content to another segment meanwhile. */
const MAX_MOVES = 5

/** Reads the row of a blob; `isRepeated` if the last result named a segment that is gone. */
export type ReadRow = (isRepeated: boolean) => MaybePromise<Uint8Array | undefined>

/**
 * Reads the content of a blob by its row; undefined if the row is missing. EIO if the row is damaged, or names a
 * missing segment.
 */
export function readSegmentBlob(
  store: SegmentStore | undefined,
  id: number,
  readRow: ReadRow,
): MaybePromise<Uint8Array | undefined> {
  const readAt = (moves: number): MaybePromise<Uint8Array | undefined> =>
    chain(readRow(moves > 0), (bytes) => {
      if (bytes === undefined) return undefined
      const row = decodeSegmentRow(id, bytes)
      if (row instanceof Uint8Array) return row
      return chain(readReference(store, row), (content) => {
        if (content !== undefined) return content
        if (moves < MAX_MOVES) return readAt(moves + 1)
        throw createMissingSegmentError(store, row)
      })
    })
  return readAt(0)
}

function readReference(
  store: SegmentStore | undefined,
  { segment, offset, length }: SegmentReference,
): MaybePromise<Uint8Array | undefined> {
  return store?.read(segment, offset, length)
}

function createMissingSegmentError(store: SegmentStore | undefined, { segment }: SegmentReference): VfsError {
  const place = store?.locate(segment) ?? segment
  const detail = `the segment ${place} is missing; restore it from a backup, or run fsck to find the files in it`
  return new VfsError('EIO', place, { op: 'read', detail })
}
