import type { Home } from '../../backends/vault/index.ts'
import { LinkedDirectory, type LinkedFork } from '../../workspace/index.ts'

/** A fork of a directory of this machine, with what it is a fork of. */
export interface OpenLinkedFork {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
}

/** The fork of the working directory by this name, or the one that was used last; undefined if there is none. */
export async function findLinkedFork(
  home: Home,
  name: string | undefined,
): Promise<OpenLinkedFork | undefined> {
  const link = new LinkedDirectory(home, process.cwd())
  const forks = await link.listForks()
  const fork = name === undefined ? forks[0] : forks.find((candidate) => candidate.name === name)
  return fork === undefined ? undefined : { link, fork }
}
