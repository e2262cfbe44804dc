import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '../../machine/index.ts'
import { findProgramProfile, type Profile, ProfileStore, toVisiblePaths } from '../../profiles/index.ts'
import type { CommandSpec, ExecuteOptions } from '../../workspace/index.ts'
import { packageRoot } from '../package-root.ts'

/** Directory of the home that records which profiles the user has seen. */
const SHOWN_DIRECTORY = 'shown-profiles'
const DIGEST_DIGITS = 16

/** The profiles of a command. */
export interface ChosenProfiles {
  readonly profiles: readonly Profile[]
  /** Names of variables of this process that pass although they look like credentials. */
  readonly env: readonly string[]
  readonly hosts: readonly string[]
  /** Options of the run. */
  readonly options: Pick<ExecuteOptions, 'visible' | 'sockets' | 'program'>
}

/** Reads the profiles of the package and of a home. */
export function readProfiles(home: string): ProfileStore {
  return ProfileStore.read(packageRoot, home)
}

/**
 * Returns the profile that the program of a command chooses, and those with the given names. ENOENT for an unknown
 * name; ProfileError for a file that is no valid profile.
 *
 * @param workspace the directory of the project, if it has one.
 */
export async function chooseProfiles(
  home: string,
  command: CommandSpec,
  names: readonly string[],
  workspace: string | undefined,
): Promise<ChosenProfiles> {
  const store = readProfiles(home)
  const found = await findProgramProfile(store, command, process.env['PATH'] ?? '', workspace)
  const named = names.map((name) => store.get(name)).filter(({ name }) => name !== found?.profile.name)
  const profiles = [...(found === undefined ? [] : [found.profile]), ...named]
  const visible = toVisiblePaths(profiles, homedir())
  const sockets = profiles.flatMap((profile) => profile.sockets.flatMap((name) => process.env[name] ?? []))
  return {
    profiles,
    env: findPassedVariables(profiles),
    hosts: [...new Set(profiles.flatMap(({ hosts }) => hosts))],
    options: {
      ...(visible.length > 0 && { visible }),
      ...(sockets.length > 0 && { sockets }),
      ...(found !== undefined && { program: found.program }),
    },
  }
}

/** Lists the variables of this process that profiles pass. */
export function findPassedVariables(profiles: readonly Pick<Profile, 'env'>[]): string[] {
  const patterns = profiles.flatMap(({ env }) => env)
  const isPassed = (name: string) =>
    patterns.some((pattern) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    )
  return Object.keys(process.env).filter(isPassed).sort()
}

/** Returns the profiles that the user of a home has not seen as they are now, and records that they have. */
export function takeUnseenProfiles(home: string, profiles: readonly Profile[]): Profile[] {
  return profiles.filter((profile) => {
    const { name, paths, env, sockets, hosts, mask } = profile
    const content = createHash('sha256')
      .update(JSON.stringify({ paths, env, sockets, hosts, mask }))
      .digest('hex')
    const mark = join(home, SHOWN_DIRECTORY, `${name}-${content.slice(0, DIGEST_DIGITS)}`)
    if (existsSync(mark)) return false
    makePrivateDirectory(join(home, SHOWN_DIRECTORY))
    writeFileSync(mark, '', { mode: PRIVATE_FILE_MODE })
    return true
  })
}
