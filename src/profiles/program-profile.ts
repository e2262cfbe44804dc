import { basename } from 'node:path'
import { type CommandSpec, findHostProgram } from '../workspace/index.ts'
import type { Profile } from './profile.ts'
import type { ProfileStore } from './profile-store.ts'

/** A profile that a command's program chose, and that program. */
export interface ProgramProfile {
  readonly profile: Profile
  /** Absolute path of the program, outside of the workspace. */
  readonly program: string
}

/**
 * Returns the profile for the program of a command, found on the PATH outside of the workspace. A program in the
 * workspace never gets one: earlier commands and the project itself can change it.
 *
 * @param path the PATH of the command.
 * @param workspace the directory of the project, if it has one.
 */
export async function findProgramProfile(
  profiles: ProfileStore,
  command: CommandSpec,
  path: string,
  workspace: string | undefined,
): Promise<ProgramProfile | undefined> {
  // A line for a shell may run several programs, and only one would be meant.
  const [word] = 'argv' in command ? command.argv : []
  if (word === undefined) return undefined
  const profile = profiles.findByProgram(basename(word))
  if (profile === undefined) return undefined
  const program = await findHostProgram(word, path, workspace === undefined ? [] : [workspace])
  return program === undefined ? undefined : { profile, program }
}
