import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'

const SHARED_HOMES = 'shared-homes'
const DATABASE_URL = /^postgres(?:ql)?:\/\//i

/**
 * Returns the directory of the home: the named one, `COPPICE_HOME` or `~/.coppice`; undefined if the user has no home
 * directory, or if the home is in a database.
 */
export function findHomePath(named: string | undefined): string | undefined {
  const chosen = named ?? (process.env['COPPICE_HOME'] || undefined)
  if (chosen === undefined) return findUserHome()
  return isDatabaseUrl(chosen) ? undefined : resolve(chosen)
}

/** Returns the URL of a home in a database, named or in `COPPICE_HOME`; undefined for a home of this machine. */
export function findHomeUrl(named: string | undefined): string | undefined {
  const chosen = named ?? process.env['COPPICE_HOME'] ?? ''
  return isDatabaseUrl(chosen) ? chosen : undefined
}

/** Reports whether a home is named by the URL of a database. */
export function isDatabaseUrl(home: string): boolean {
  return DATABASE_URL.test(home)
}

/**
 * Returns the directory for what this user keeps on this machine about a home in a database, such as the chosen vault;
 * undefined if the user has no home directory.
 *
 * @param label the URL without its password.
 */
export function findSharedHomeDirectory(label: string): string | undefined {
  const home = findUserHome()
  return home && join(home, SHARED_HOMES, createHash('sha256').update(label).digest('hex').slice(0, 16))
}

/** Returns the directory of a home for the files of mounted forks. */
export function getMountsDirectory(home: string): string {
  return join(home, 'mounts')
}

/** As `getMountsDirectory`; undefined if nothing was ever mounted, or the home has no directory. */
export function findMountsDirectory(home: string | undefined): string | undefined {
  const mounts = home === undefined ? undefined : getMountsDirectory(home)
  return mounts !== undefined && existsSync(mounts) ? mounts : undefined
}

function findUserHome(): string | undefined {
  // An empty `HOME` would be the working directory, so the account's directory replaces it.
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
