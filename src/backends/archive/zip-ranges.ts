import type { Entry } from 'yauzl'
import { VfsError } from '../../vfs/index.ts'

/** Minimum size of the header before an entry's content. */
const HEADER_BYTES = 30
/** Deflate expands two bits to at most 258 bytes. */
const MAX_RATIO = 1032

/** Returns why the sizes of an entry are impossible in an archive of `size` bytes, or undefined. */
export function findSizeFlaw(entry: Entry, size: number): string | undefined {
  const { compressedSize, uncompressedSize, relativeOffsetOfLocalHeader: start } = entry
  if (start + HEADER_BYTES + compressedSize > size) return 'the content lies beyond the end of the archive'
  if (uncompressedSize > compressedSize * MAX_RATIO)
    return `${compressedSize} compressed bytes cannot hold the ${uncompressedSize} it claims`
  return undefined
}

/**
 * Throws EIO for entries that share bytes of the archive. Without overlap, content is at most 1032 times the archive;
 * with it, ten megabytes can expand to terabytes.
 */
export function assertNoOverlap(entries: readonly Entry[], archive: string): void {
  const starts = entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)
  let end = 0
  for (const { relativeOffsetOfLocalHeader: start, compressedSize } of starts) {
    if (start < end)
      throw new VfsError('EIO', archive, {
        op: 'open',
        detail: `two entries share the bytes at ${start}: the archive is damaged or hostile`,
      })
    end = start + HEADER_BYTES + compressedSize
  }
}
