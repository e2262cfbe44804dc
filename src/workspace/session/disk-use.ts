import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const BLOCK_BYTES = 512

/** What a tree takes on disk, as far as it can be seen. */
export async function diskUse(path: string): Promise<number> {
  const { blocks } = await lstat(path)
  let total = blocks * BLOCK_BYTES
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const below = join(path, entry.name)
    // A command may remove what was just listed.
    total += await (entry.isDirectory() ? diskUse(below) : sizeOf(below)).catch(() => 0)
  }
  return total
}

async function sizeOf(path: string): Promise<number> {
  return (await lstat(path)).blocks * BLOCK_BYTES
}
