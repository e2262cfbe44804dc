import { access, constants } from 'node:fs/promises'

/**
 * Directories searched for the programs that isolate. The PATH of a request is not used, since a command could have
 * changed it.
 */
const TOOL_DIRECTORIES: readonly string[] = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']

/** Returns the path of a program of this machine, or undefined if it is not installed. */
export async function findTool(name: string): Promise<string | undefined> {
  for (const directory of TOOL_DIRECTORIES) {
    const path = `${directory}/${name}`
    try {
      await access(path, constants.X_OK)
      return path
    } catch {
      // Try the next directory.
    }
  }
  return undefined
}

/** The environment of the programs that isolate. The command has its own. */
export const isolationEnvironment: Readonly<Record<string, string>> = {
  PATH: TOOL_DIRECTORIES.join(':'),
  LC_ALL: 'C',
}
