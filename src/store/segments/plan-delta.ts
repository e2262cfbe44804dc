import type { BlobRef } from '../tree/tree-values.ts'
import { addPiece, type Delta, type DeltaPiece, measureDelta } from './delta-row.ts'

/** Content up to this size is stored whole: a delta would take as many pages of the store. */
const MAX_WHOLE_BYTES = 4096
/** A delta takes at most this part of the whole content. */
const MAX_DELTA_PART = 0.5

/**
 * Plans stored content with other bytes in one place, and the new size. Undefined if that takes little less than the whole
 * content.
 * @param findDelta returns the content as a delta, without pieces if it is stored whole; undefined if it is not stored.
 */
export function planDelta(
  old: BlobRef,
  size: number,
  piece: DeltaPiece,
  findDelta: (old: BlobRef) => Delta | undefined,
): Delta | undefined {
  const isShort = size > MAX_WHOLE_BYTES && piece.bytes.length <= size * MAX_DELTA_PART
  if (!isShort || old.size === 0 || old.size > size) return undefined
  const before = findDelta(old)
  if (before === undefined) return undefined
  // Copied, since the caller may change it.
  const added = { ...piece, bytes: new Uint8Array(piece.bytes) }
  const delta = { base: before.base, size, pieces: addPiece(before.pieces, added) }
  return measureDelta(delta) <= size * MAX_DELTA_PART ? delta : undefined
}
