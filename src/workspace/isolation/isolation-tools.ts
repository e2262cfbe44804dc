import { access, constants } from 'node:fs/promises'

/** Where the programs that isolate are looked for: never in the PATH of a request, which a command could have prepared. */
const TOOL_DIRECTORIES: readonly string[] = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']

/** Where a program of this machine is, if it is installed. */
export async function findTool(name: string): Promise<string | undefined> {
  for (const place of TOOL_DIRECTORIES) {
    const path = `${place}/${name}`
    try {
      await access(path, constants.X_OK)
      return path
    } catch {
      // Not here: perhaps in the next place.
    }
  }
  return undefined
}

/** The environment that the programs that isolate run in; the command gets its own. */
export const isolationEnvironment: Readonly<Record<string, string>> = {
  PATH: TOOL_DIRECTORIES.join(':'),
  LC_ALL: 'C',
}
