import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Reports whether a daemon serves the page of a home. It loads nothing: every run of a command asks. */
export function isUiServed(home: string): boolean {
  return existsSync(join(home, 'run', 'ui'))
}

/** Returns the path of the page with the changes of a fork. */
export function getComparePath(fork: string, isLinked: boolean): string {
  const tree = `${isLinked ? 'fork' : 'vault'}:${fork}`
  return `/compare?${new URLSearchParams({ from: `${tree}^`, to: tree })}`
}
