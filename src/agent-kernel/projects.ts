import type { Home } from '../backends/vault/index.ts'
import { isVfsError } from '../vfs/index.ts'

/** Returns the project of a vault: the name of its first ancestor, which may be deleted by now. */
export async function findProject(home: Home, vault: string): Promise<string> {
  const visited = new Set([vault])
  let first = vault
  for (;;) {
    const parent = await findParent(home, first)
    // A name may have been reused, for a fork of its own forks.
    if (parent === undefined || visited.has(parent)) return first
    visited.add(parent)
    first = parent
  }
}

async function findParent(home: Home, vault: string): Promise<string | undefined> {
  try {
    return (await home.info(vault)).from?.vault
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return undefined
    throw error
  }
}
