import type { Files } from '../files/files.ts'
import { groupOf, kinds } from '../tree/key.ts'
import { CHUNK_BYTES, type Inode } from '../tree/records.ts'
import { BLOCK_BYTES } from './attributes.ts'

/** How many files' blocks are remembered. */
const REMEMBERED = 1024

/** Where the next data, or the next hole, is from a position on; null from the file's end on, and after its last data. */
export function seekIn(
  files: Files,
  ino: number,
  { size, content }: Inode,
  from: number,
  what: 'data' | 'hole',
): number | null {
  if (from >= size) return null
  if (content !== 'chunks') return what === 'data' ? from : size
  let hole = Math.floor(from / CHUNK_BYTES)
  for (const { sub } of files.tree.inGroup(groupOf(ino, kinds.chunk), hole)) {
    if (what === 'data') return Math.max(from, Number(sub) * CHUNK_BYTES)
    if (sub !== hole) break
    hole++
  }
  return what === 'data' ? null : Math.min(size, Math.max(from, hole * CHUNK_BYTES))
}

/** How much room files take. A large file is counted once for each version of its content. */
export class BlockCounts {
  readonly #known = new Map<number, { readonly version: number; readonly blocks: number }>()

  of(files: Files, ino: number, { type, size, content, version }: Inode): number {
    if (type === 'directory' || type === 'other') return 0
    if (content !== 'chunks') return blocksOf(size)
    const known = this.#known.get(ino)
    if (known?.version === version) return known.blocks
    let blocks = 0
    for (const { value } of files.tree.inGroup(groupOf(ino, kinds.chunk), 0)) {
      if ('blob' in value) blocks += blocksOf(value.size)
    }
    if (this.#known.size >= REMEMBERED) this.#known.clear()
    this.#known.set(ino, { version, blocks })
    return blocks
  }

  /** Content changed without a new version: inside a batch everything has the same. */
  forget(ino: number): void {
    this.#known.delete(ino)
  }

  clear(): void {
    this.#known.clear()
  }
}

function blocksOf(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES)
}
