import type { VaultFiles } from '../files/vault-files.ts'
import { entryKinds, toGroup } from '../tree/tree-key.ts'
import { CHUNK_BYTES, type Inode } from '../tree/tree-values.ts'
import { BLOCK_BYTES } from './posix-attributes.ts'

/** How many files' blocks are remembered. */
const MAX_CACHED_FILES = 1024

/** Where the next data, or the next hole, is from a position on; null from the file's end on, and after its last data. */
export function seekDataOrHole(
  files: VaultFiles,
  ino: number,
  { size, content }: Inode,
  from: number,
  what: 'data' | 'hole',
): number | null {
  if (from >= size) return null
  if (content !== 'chunks') return what === 'data' ? from : size
  let hole = Math.floor(from / CHUNK_BYTES)
  for (const { sub } of files.tree.iterateGroup(toGroup(ino, entryKinds.chunk), hole)) {
    if (what === 'data') return Math.max(from, Number(sub) * CHUNK_BYTES)
    if (sub !== hole) break
    hole++
  }
  return what === 'data' ? null : Math.min(size, Math.max(from, hole * CHUNK_BYTES))
}

/** How much room files take. A large file is counted once for each version of its content. */
export class BlockCounts {
  readonly #cached = new Map<number, { readonly version: number; readonly blocks: number }>()

  count(files: VaultFiles, ino: number, { type, size, content, version }: Inode): number {
    if (type === 'directory' || type === 'other') return 0
    if (content !== 'chunks') return countBlocks(size)
    const known = this.#cached.get(ino)
    if (known?.version === version) return known.blocks
    let blocks = 0
    for (const { value } of files.tree.iterateGroup(toGroup(ino, entryKinds.chunk), 0)) {
      if ('blob' in value) blocks += countBlocks(value.size)
    }
    if (this.#cached.size >= MAX_CACHED_FILES) this.#cached.clear()
    this.#cached.set(ino, { version, blocks })
    return blocks
  }

  /** Content changed without a new version: inside a batch everything has the same. */
  invalidate(ino: number): void {
    this.#cached.delete(ino)
  }

  clear(): void {
    this.#cached.clear()
  }
}

function countBlocks(bytes: number): number {
  return Math.ceil(bytes / BLOCK_BYTES)
}
