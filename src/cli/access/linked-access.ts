import type { Home } from '../../backends/vault/index.ts'
import { LinkedDirectory, type LinkedFork } from '../../workspace/index.ts'

/** A fork with the directory that it was made from. */
export interface OpenLinkedFork {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
}

/** Returns the fork of the working directory by name, or the one used last; undefined if there is none. */
export async function findLinkedFork(
  home: Home,
  name: string | undefined,
): Promise<OpenLinkedFork | undefined> {
  const link = new LinkedDirectory(home, process.cwd())
  const forks = await link.listForks()
  const fork = name === undefined ? forks[0] : forks.find((candidate) => candidate.name === name)
  return fork === undefined ? undefined : { link, fork }
}

/** Lists the names of the forks of the working directory, the one used last first. */
export async function listLinkedForkNames(home: Home): Promise<string[]> {
  return (await new LinkedDirectory(home, process.cwd()).listForks()).map(({ name }) => name)
}
