import { accessSync, constants, existsSync } from 'node:fs'

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
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Try the next directory.
    }
  }
  return undefined
}

/** Reports whether this host creates pseudo-terminals for commands. Some distributions package `script` by itself. */
export function hasPseudoTerminals(): boolean {
  return (
    process.platform === 'linux' &&
    ['script', 'setpriv', 'stty'].every((name) =>
      TOOL_DIRECTORIES.some((directory) => existsSync(`${directory}/${name}`)),
    )
  )
}

/** The environment of the programs that isolate. The command has its own. */
export const isolationEnvironment: Readonly<Record<string, string>> = {
  PATH: TOOL_DIRECTORIES.join(':'),
  LC_ALL: 'C',
}
