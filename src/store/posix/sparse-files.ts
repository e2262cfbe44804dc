import type { VaultFiles } from '../files/vault-files.ts'
import { entryKinds, toGroup } from '../tree/tree-key.ts'
import { CHUNK_BYTES, type Inode } from '../tree/tree-values.ts'
import { BLOCK_BYTES } from './posix-attributes.ts'

/** Limit of files whose block count is cached. */
const MAX_CACHED_FILES = 1024

/**
 * Returns the next position of data or of a hole, the end of the file included; null behind it and without more data.
 */
export function seekDataOrHole(
  files: VaultFiles,
  ino: number,
  { size, content }: Inode,
  from: number,
  kind: 'data' | 'hole',
): number | null {
  if (from >= size) return null
  if (content !== 'chunks') return kind === 'data' ? from : size
  let hole = Math.floor(from / CHUNK_BYTES)
  for (const { sub } of files.tree.iterateGroup(toGroup(ino, entryKinds.chunk), hole)) {
    if (kind === 'data') return Math.max(from, Number(sub) * CHUNK_BYTES)
    if (sub !== hole) break
    hole++
  }
  return kind === 'data' ? null : Math.min(size, Math.max(from, hole * CHUNK_BYTES))
}

/** Counts the blocks of files. A large file is counted once for each version of its content. */
export class BlockCounts {
  readonly #cached = new Map<number, { readonly version: number; readonly blocks: number }>()

  count(files: VaultFiles, ino: number, { type, size, content, version }: Inode): number {
    if (type === 'directory' || type === 'other') return 0
    if (content !== 'chunks') return countBlocks(size)
    const cached = this.#cached.get(ino)
    if (cached?.version === version) return cached.blocks
    let blocks = 0
    for (const { value } of files.tree.iterateGroup(toGroup(ino, entryKinds.chunk), 0)) {
      if ('blob' in value) blocks += countBlocks(value.size)
    }
    if (this.#cached.size >= MAX_CACHED_FILES) this.#cached.clear()
    this.#cached.set(ino, { version, blocks })
    return blocks
  }

  /** Drops a cached count: inside a batch, content changes without a new version. */
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
