import { homedir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'

/** Returns the directory of the home: the named one, `COPPICE_HOME` or `~/.coppice`; undefined if the user has none. */
export function findHomePath(named: string | undefined): string | undefined {
  const chosen = named ?? (process.env['COPPICE_HOME'] || undefined)
  if (chosen !== undefined) return resolve(chosen)
  // An empty `HOME` would mean any directory, so the account's directory replaces it.
  const user = homedir() || getAccountDirectory()
  return user === '' ? undefined : join(resolve(user), '.coppice')
}

/** Returns the home directory of the account; empty if the user has none, as in some containers. */
export function getAccountDirectory(): string {
  try {
    return userInfo().homedir
  } catch {
    return ''
  }
}
