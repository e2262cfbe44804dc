import { ftruncateSync, writeSync } from 'node:fs'

/** Size of a block that is left out if it has only zeros; at least as large as the blocks of most disks. */
const BLOCK_BYTES = 64 * 1024
const ZEROS = Buffer.alloc(BLOCK_BYTES)

/** Writes content into an open empty file, with holes in place of long runs of zeros. */
export function writeSparse(fd: number, content: Iterable<Uint8Array>): void {
  let [end, written] = [0, 0]
  for (const chunk of content) {
    for (let at = 0; at < chunk.length; at += BLOCK_BYTES) {
      const piece = chunk.subarray(at, at + BLOCK_BYTES)
      const isHole = ZEROS.equals(piece)
      if (!isHole) writeAll(fd, piece, end)
      end += piece.length
      if (!isHole) written = end
    }
  }
  // Includes a hole at the end.
  if (written < end) ftruncateSync(fd, end)
}

function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(fd, bytes, at, bytes.length - at, position + at)
  }
}
