import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Reports whether a daemon serves the page of a home. Looks for a file only, since every run of a command asks. */
export function isUiServed(home: string): boolean {
  return existsSync(join(home, 'run', 'ui'))
}

/**
 * Returns the path of the page with the changes of a fork.
 *
 * @param into the directory or vault that they can be merged into, if it is known.
 */
export function getComparePath(fork: string, isLinked: boolean, into: string | undefined): string {
  const tree = `${isLinked ? 'fork' : 'vault'}:${fork}`
  const target = into === undefined ? {} : { into: `${isLinked ? 'directory' : 'vault'}:${into}` }
  return `/compare?${new URLSearchParams({ from: `${tree}^`, to: tree, ...target })}`
}
