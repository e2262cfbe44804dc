import { createHash } from 'node:crypto'

const BLOCK_BYTES = 4096

/** Content whose first line is its name; no two blocks of it are the same, nor those of two names. */
export function largeContent(name: string, size: number = 5 * 1024 * 1024): Buffer {
  const noise = createHash('shake256', { outputLength: BLOCK_BYTES }).update(name).digest()
  const content = Buffer.alloc(size)
  for (let at = 0; at < size; at += BLOCK_BYTES) {
    noise.copy(content, at)
    if (at + BLOCK_BYTES <= size) content.writeDoubleLE(at, at + BLOCK_BYTES - 8)
  }
  content.write(`${name}\n`, 'latin1')
  return content
}
