import { basename } from 'node:path'
import { isVfsError } from '../../vfs/index.ts'
import type { LinkHome, LinkVault } from './link-home.ts'

const MAX_STEM_LENGTH = 48

export interface NewFork {
  readonly directory: string
  readonly mirror: string
  /** The name, with a number if it is taken. When absent, the first free one of `project-1`, `project-2`…. */
  readonly name: string | undefined
}

/** Forks the mirror of a directory and returns the name of the fork. */
export async function forkMirror(home: LinkHome, { directory, mirror, name }: NewFork): Promise<string> {
  const fork =
    name === undefined
      ? await forkByNumber(home, mirror, toNameStem(directory))
      : await forkByName(home, mirror, name)
  return fork.name
}

/** Forks a vault under a name. If another command took it meanwhile, adds a number, so that no work is lost. */
export async function forkByName(
  home: LinkHome,
  source: string,
  name: string,
  options: { readonly baseOf?: string } = {},
): Promise<LinkVault> {
  try {
    return await home.fork(source, name, options)
  } catch (error) {
    if (!isVfsError(error, 'EEXIST')) throw error
    return await forkByNumber(home, source, name, options)
  }
}

/** Forks a vault under the first free name of `stem-1`, `stem-2`…. */
export async function forkByNumber(
  home: LinkHome,
  source: string,
  stem: string,
  options: { readonly baseOf?: string } = {},
): Promise<LinkVault> {
  const taken = new Set(await home.vaults())
  for (let number = 1; ; number++) {
    const free = createNumberedName(stem, number)
    if (taken.has(free)) continue
    try {
      return await home.fork(source, free, options)
    } catch (error) {
      // Another command was faster.
      if (!isVfsError(error, 'EEXIST')) throw error
    }
  }
}

/** Returns a name for a new fork of a directory, such as `project-1`. */
export function createNumberedForkName(directory: string, number: number): string {
  return createNumberedName(toNameStem(directory), number)
}

function createNumberedName(stem: string, number: number): string {
  return `${stem.slice(0, MAX_STEM_LENGTH)}-${number}`
}

/** Turns a directory's name into a valid beginning of a vault name. */
function toNameStem(directory: string): string {
  const plain = basename(directory).replaceAll(/[^A-Za-z0-9_-]+/g, '-')
  return plain.replace(/^[-_]+/, '') || 'fork'
}
