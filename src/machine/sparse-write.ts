import { ftruncateSync, writeSync } from 'node:fs'

/**
 * Size of a block of a chunk that becomes a hole if it has only zeros; at least as large as the blocks of most disks.
 */
const BLOCK_BYTES = 64 * 1024
const ZEROS = Buffer.alloc(BLOCK_BYTES)

/** Writes content into an open empty file, with holes in place of long runs of zeros. */
export function writeSparse(fd: number, content: Iterable<Uint8Array>): void {
  let [end, written] = [0, 0]
  for (const chunk of content) {
    for (let offset = 0; offset < chunk.length; offset += BLOCK_BYTES) {
      const block = chunk.subarray(offset, offset + BLOCK_BYTES)
      const isHole = ZEROS.equals(block)
      if (!isHole) writeAll(fd, block, end)
      end += block.length
      if (!isHole) written = end
    }
  }
  // A hole at the end has no write after it that sets the size.
  if (written < end) ftruncateSync(fd, end)
}

function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, position + done)
  }
}
