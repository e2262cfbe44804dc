import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '../../machine/index.ts'
import { findProgramProfile, type Profile, ProfileStore, toVisiblePaths } from '../../profiles/index.ts'
import type { CommandSpec, ExecuteOptions, ExecutionRequestInput } from '../../workspace/index.ts'
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
  /** The command, with the arguments that its profile gives it. */
  readonly command: CommandSpec
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
  { command, isolation }: Pick<ExecutionRequestInput, 'command' | 'isolation'>,
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
    command: await addArguments(command, found?.profile.args ?? [], isolation),
    options: {
      ...(visible.length > 0 && { visible }),
      ...(sockets.length > 0 && { sockets }),
      ...(found !== undefined && { program: found.program }),
    },
  }
}

/** Returns a command with further arguments before its own. They replace an isolation, so it gets none without one. */
async function addArguments(
  command: CommandSpec,
  args: readonly string[],
  isolation: ExecutionRequestInput['isolation'],
): Promise<CommandSpec> {
  if (args.length === 0 || !('argv' in command)) return command
  const { canIsolate } = await import('../../workspace/index.ts')
  if (!(await canIsolate(isolation))) return command
  const [program = '', ...own] = command.argv
  return { argv: [program, ...args, ...own] }
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
    const { name, args, paths, env, sockets, hosts, mask } = profile
    const content = createHash('sha256')
      .update(JSON.stringify({ args, paths, env, sockets, hosts, mask }))
      .digest('hex')
    const mark = join(home, SHOWN_DIRECTORY, `${name}-${content.slice(0, DIGEST_DIGITS)}`)
    if (existsSync(mark)) return false
    makePrivateDirectory(join(home, SHOWN_DIRECTORY))
    writeFileSync(mark, '', { mode: PRIVATE_FILE_MODE })
    return true
  })
}
