import { type Home, isMirrorName } from '../../backends/vault/index.ts'
import { isOverlapPath } from '../../git-files/index.ts'

/** A path that a fork changes, and the others that change it too. */
export interface SharedPath {
  readonly path: string
  readonly forks: readonly string[]
}

/** Finds the paths that several forks change, by fork. Forks that are gone are left out. O(changes). */
export async function findSharedPaths(
  home: Home,
  forks: readonly string[],
): Promise<ReadonlyMap<string, readonly SharedPath[]>> {
  const names = new Set(await home.vaults())
  const present = forks.filter((fork) => names.has(fork))
  const forksByPath = new Map<string, string[]>()
  for (const fork of present)
    for (const path of await listChangedPaths(home, fork))
      forksByPath.set(path, [...(forksByPath.get(path) ?? []), fork])
  const shared = [...forksByPath].filter(([, changing]) => changing.length > 1)
  return new Map(
    present.map((fork) => [
      fork,
      shared.flatMap(([path, changing]) =>
        changing.includes(fork) ? [{ path, forks: changing.filter((name) => name !== fork) }] : [],
      ),
    ]),
  )
}

/**
 * Lists the paths that a fork changed. The mirror of a directory gets paths later than the fork, so its present state
 * counts.
 */
async function listChangedPaths(home: Home, fork: string): Promise<string[]> {
  const { from } = await home.info(fork)
  if (from === undefined) return []
  const base = isMirrorName(from.vault) ? { vault: from.vault } : undefined
  const changes = await Array.fromAsync((await home.vault(fork)).diff(base))
  return changes.map(({ path }) => path).filter(isOverlapPath)
}
