import type { Entry } from 'yauzl'
import { VfsError } from '../../vfs/index.ts'

/** The part of the header before the content of an entry that every entry has. */
const HEADER_BYTES = 30
/** Deflate makes at most 258 bytes of two bits. */
const MAX_RATIO = 1032

/** Why the sizes of an entry cannot be true, in an archive of `size` bytes. */
export function findSizeFlaw(entry: Entry, size: number): string | undefined {
  const { compressedSize, uncompressedSize, relativeOffsetOfLocalHeader: start } = entry
  if (start + HEADER_BYTES + compressedSize > size) return 'its content lies beyond the end of the archive'
  if (uncompressedSize > compressedSize * MAX_RATIO)
    return `${compressedSize} compressed bytes cannot hold the ${uncompressedSize} it claims`
  return undefined
}

/**
 * Refuses entries that share bytes of the archive. Without them content is at most 1032 times the archive; with them
 * ten megabytes can hold terabytes. EIO.
 */
export function assertNoOverlap(entries: readonly Entry[], archive: string): void {
  const starts = entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)
  let end = 0
  for (const { relativeOffsetOfLocalHeader: start, compressedSize } of starts) {
    if (start < end)
      throw new VfsError('EIO', archive, {
        op: 'open',
        detail: `two entries share the bytes at ${start}: it is damaged, or made to fill the disk`,
      })
    end = start + HEADER_BYTES + compressedSize
  }
}
