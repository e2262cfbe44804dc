import { join } from 'node:path'
import type { VisiblePath } from '../workspace/index.ts'

/** A path of the user's home that a profile makes visible. */
export interface ProfilePath {
  /** Relative to the home, without a final slash. */
  readonly path: string
  readonly mode: VisiblePath['mode']
  /** True if a missing path is to be a directory. */
  readonly isDirectory: boolean
}

/** The needs of a known program in a session. */
export interface Profile {
  readonly name: string
  /** File that it was read from. */
  readonly file: string
  /** True if it is part of the package. */
  readonly isBuiltIn: boolean
  readonly summary: string
  /** Names of programs that choose it. */
  readonly programs: readonly string[]
  /** Arguments that the program gets before its own where commands are isolated. */
  readonly args: readonly string[]
  readonly paths: readonly ProfilePath[]
  /** Names of variables that pass although they look like credentials; `*` at the end matches any rest. */
  readonly env: readonly string[]
  /** Variables that name a socket to which the program connects, such as that of an SSH agent. */
  readonly sockets: readonly string[]
  /** Hosts that the program may reach. */
  readonly hosts: readonly string[]
  /** True if the files of the project that hold secrets are masked. */
  readonly mask: boolean
}

/** Returns the paths of profiles in a home directory, in order. The session uses the last of several for one path. */
export function toVisiblePaths(profiles: readonly Profile[], userHome: string): VisiblePath[] {
  return profiles.flatMap(({ paths }) =>
    paths.map(({ path, mode, isDirectory }) => ({ path: join(userHome, path), mode, isDirectory })),
  )
}
