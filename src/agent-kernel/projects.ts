import { hash } from 'node:crypto'
import { basename } from 'node:path'
import type { Home } from '../backends/vault/index.ts'
import { isVfsError } from '../vfs/index.ts'

/** Returns the project of a vault: the name of its first ancestor, which may be deleted by now. A directory is one. */
export async function findProject(home: Home, vault: string): Promise<string> {
  if (vault.startsWith('/')) return formatProjectName(vault)
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

/** Returns a name for the project in a directory, which is a valid file name. */
function formatProjectName(directory: string): string {
  const digest = hash('sha256', directory).slice(0, 12)
  return `${basename(directory).replaceAll(/[^A-Za-z0-9_.-]+/g, '-')}-${digest}`
}

async function findParent(home: Home, vault: string): Promise<string | undefined> {
  try {
    return (await home.info(vault)).from?.vault
  } catch (error) {
    if (isVfsError(error, 'ENOENT')) return undefined
    throw error
  }
}
