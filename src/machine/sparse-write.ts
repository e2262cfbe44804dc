import { ftruncateSync, writeSync } from 'node:fs'

/** As much as a disk is likely to leave out at once. */
const BLOCK_BYTES = 64 * 1024
const ZEROS = Buffer.alloc(BLOCK_BYTES)

/** Writes content into an open empty file. Where it is nothing but zeros for long, the disk stores nothing. */
export function writeSparse(fd: number, content: Iterable<Uint8Array>): void {
  let end = 0
  for (const chunk of content) {
    for (let at = 0; at < chunk.length; at += BLOCK_BYTES) {
      const piece = chunk.subarray(at, at + BLOCK_BYTES)
      if (!ZEROS.equals(piece)) writeAll(fd, piece, end)
      end += piece.length
    }
  }
  // What was left out at the end is there, too.
  ftruncateSync(fd, end)
}

function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(fd, bytes, at, bytes.length - at, position + at)
  }
}
