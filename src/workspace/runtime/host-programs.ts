import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Explanation } from '../policy/index.ts'

/** Result of looking up the programs of a command to which a rule grants the network. */
export interface HostPrograms {
  /** The PATH for looking up programs, without directories inside the workspace. */
  readonly path: string
  /** Reason for which a rule does not cover one of the programs; undefined if it covers all. */
  readonly problem: string | undefined
}

/**
 * Looks up the programs to which a rule grants the network. A rule means a program outside the workspace. A program
 * inside, also behind a link, is under control of earlier commands.
 *
 * @param path the PATH of the command.
 * @param roots paths of the workspace on this machine.
 */
export async function findHostPrograms(
  { networkPrograms }: Pick<Explanation, 'networkPrograms'>,
  path: string,
  roots: readonly string[],
): Promise<HostPrograms> {
  const workspaceRoots = await Promise.all(roots.map(resolveLinks))
  const directories = await listHostDirectories(path, workspaceRoots)
  for (const program of networkPrograms) {
    const problem = await findProblem(program, directories, workspaceRoots)
    if (problem !== undefined) return { path: directories.join(delimiter), problem }
  }
  return { path: directories.join(delimiter), problem: undefined }
}

/**
 * Returns the absolute path of a program outside the workspace; undefined if there is none, or if it leads into the
 * workspace. The program is a name or an absolute path.
 */
export async function findHostProgram(
  program: string,
  path: string,
  roots: readonly string[],
): Promise<string | undefined> {
  const workspaceRoots = await Promise.all(roots.map(resolveLinks))
  if (!isAbsolute(program) && program.includes('/')) return undefined
  const found = isAbsolute(program)
    ? program
    : await findProgram(program, await listHostDirectories(path, workspaceRoots))
  if (found === undefined || !(await isExecutable(found))) return undefined
  return isInside(await resolveLinks(found), workspaceRoots) ? undefined : found
}

/** Lists the directories of a PATH that are not inside the workspace. */
async function listHostDirectories(path: string, workspaceRoots: readonly string[]): Promise<string[]> {
  const directories: string[] = []
  for (const directory of path.split(delimiter)) {
    if (isAbsolute(directory) && !isInside(await resolveLinks(directory), workspaceRoots))
      directories.push(directory)
  }
  return directories
}

async function findProblem(
  program: string,
  directories: readonly string[],
  workspaceRoots: readonly string[],
): Promise<string | undefined> {
  const found = isAbsolute(program) ? program : await findProgram(program, directories)
  if (found === undefined) return `\`${program}\` is not on the PATH outside the workspace`
  const real = await resolveLinks(found)
  return isInside(real, workspaceRoots) ? `\`${program}\` leads to ${real}, in the workspace` : undefined
}

async function findProgram(program: string, directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories) {
    const file = join(directory, program)
    if (await isExecutable(file)) return file
  }
  return undefined
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

/** Resolves links of a path; returns a missing path unchanged. */
async function resolveLinks(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

function isInside(path: string, directories: readonly string[]): boolean {
  return directories.some(
    (directory) => path === directory || path.startsWith(`${directory === '/' ? '' : directory}/`),
  )
}
