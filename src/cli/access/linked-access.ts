import { existsSync, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Home, isMirrorFor } from '../../backends/vault/index.ts'
import { escapeName } from '../../text/index.ts'
import {
  findForkByName,
  LinkedDirectory,
  type LinkedFork,
  updateMountedForks,
} from '../../workspace/index.ts'
import { CommandError } from '../framework/errors.ts'
import { findMountsDirectory } from './home-path.ts'

/** A fork with the directory that it was made from. */
export interface OpenLinkedFork {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
}

/**
 * Returns the fork of the working directory, or of one around it, by name, or the one used last. Undefined if there
 * is none.
 */
export async function findLinkedFork(
  home: Home,
  name: string | undefined,
): Promise<OpenLinkedFork | undefined> {
  const { links, failures } = await updateLinkedDirectories(home)
  for (const link of links) {
    const fork = name === undefined ? (await link.listForks())[0] : await link.findFork(name)
    const failure = failures.find((each) => each.fork === fork?.name)
    if (failure !== undefined)
      throw new CommandError(
        `${failure.fork} is mounted, and its changes cannot be stored: ${failure.reason}; try again, or unmount it`,
      )
    if (fork !== undefined) return { link, fork }
  }
  return undefined
}

/** Throws CommandError for a fork of a directory that is not around the working directory, and names that directory. */
export async function assertNotElsewhere(home: Home, name: string | undefined): Promise<void> {
  if (name === undefined || !(await home.vaults()).includes(name)) return
  const { directory } = (await findForkByName(home, name)) ?? {}
  if (directory === undefined || listEnclosingDirectories().includes(directory)) return
  const place = `${name} is a fork of ${escapeName(directory)}`
  throw new CommandError(
    existsSync(directory)
      ? `${place}; go there, or look at it with: coppice diff --vault ${name}`
      : `${place}, which is no longer there; where its files are now: coppice diff --vault ${name} --patch | git apply`,
  )
}

/** Lists the names of the forks of the working directory and of those around it, the nearest first. */
export async function listLinkedForkNames(home: Home): Promise<string[]> {
  const directories = await listLinkedDirectories(home)
  const forks = await Promise.all(directories.map((link) => link.listForks()))
  return forks.flat().map(({ name }) => name)
}

/**
 * Lists the working directory and those around it that have forks, the nearest first. Forks that are mounted get the
 * changes so far, unless that fails.
 */
export async function listLinkedDirectories(home: Home): Promise<LinkedDirectory[]> {
  return (await updateLinkedDirectories(home)).links
}

/** Lets forks that are mounted know of what was written into the directory, which else would be a conflict later. */
export async function acknowledgeWrites(home: Home): Promise<void> {
  await updateLinkedDirectories(home)
}

/** Gives the forks of these directories that are mounted the changes so far. */
async function updateLinkedDirectories(home: Home) {
  const names = await home.vaults()
  const directories = listEnclosingDirectories().filter((directory) =>
    names.some((name) => isMirrorFor(name, directory)),
  )
  const mounts = findMountsDirectory(home.path)
  const failures = mounts === undefined ? [] : await updateMountedForks(mounts, directories)
  return { links: directories.map((directory) => new LinkedDirectory(home, directory)), failures }
}

/** Lists the working directory and those around it, the nearest first. */
export function listEnclosingDirectories(): string[] {
  const found = [realpathSync(process.cwd())]
  for (let path = dirname(found[0] ?? '/'); path !== found.at(-1); path = dirname(path)) found.push(path)
  return found
}
