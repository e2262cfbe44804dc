import type { Home } from '../../backends/vault/index.ts'
import { readConfig } from '../../config/index.ts'
import { makePrivateDirectory } from '../../machine/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError, formatErrorLine } from '../framework/errors.ts'
import { UsageError } from '../framework/usage-error.ts'
import { findHomeUrl, findSharedHomeDirectory } from './home-path.ts'
import type { HomeAccess, OpenHome } from './open-home.ts'

/** Throws UsageError for a URL with a password: every user of this machine can read the arguments of programs. */
export async function assertNoPassword(url: string): Promise<void> {
  const { hasUrlPassword } = await import('../../backends/vault/index.ts')
  if (!hasUrlPassword(url)) return
  throw new UsageError(
    'a password in an argument is visible to other users; put it into PGPASSWORD, ~/.pgpass or the URL in COPPICE_HOME',
  )
}

/**
 * Opens a home in a database, and closes it when the work ends or fails. UsageError if an engine is chosen;
 * CommandError for a salvage.
 */
export async function withSharedHome<Result>(
  call: CommandInvocation,
  url: string,
  work: (open: Omit<OpenHome, 'ctx'>) => Promise<Result>,
  { create = false, engine, toSalvage = false }: HomeAccess,
): Promise<Result> {
  const { hideUrlPassword, openHome } = await import('../../backends/vault/index.ts')
  const label = hideUrlPassword(url)
  if (engine !== undefined) throw new UsageError(`the home ${label} is in a database; omit --engine`)
  if (toSalvage) throw new CommandError(`a home in a database is restored from its backups, not by --salvage`)
  const path = await openSharedDirectory(call, url)
  const config = await readConfig(path)
  const { durability } = config
  const home: Home = await openHome({
    url,
    path,
    mustExist: !create,
    interruption: call.terminal.signal,
    ...(durability !== undefined && { durability }),
  })
  try {
    const { recoverDirectory } = await import('./recover-directory.ts')
    await recoverDirectory(call, home)
    for (const message of home.unshipped) call.terminal.err.write(formatErrorLine(message))
    return await work({ home, path, label, config })
  } finally {
    await home.close()
  }
}

/**
 * Creates the directory of this machine's part of a home in a database, and records the database in it, so that the
 * directory alone can open the home later. Returns its path. UsageError if `--home` has a password.
 */
export async function openSharedDirectory(call: CommandInvocation, url: string): Promise<string> {
  if (call.option('home') !== undefined) await assertNoPassword(url)
  const { hideUrlPassword, recordDatabase } = await import('../../backends/vault/index.ts')
  const label = hideUrlPassword(url)
  const path = createDirectory(label)
  recordDatabase(path, label)
  return path
}

/** Lets directories of shared homes open them with the password of the URL in `COPPICE_HOME`. */
export async function rememberEnvironmentPassword(): Promise<void> {
  const url = findHomeUrl(undefined)
  const { rememberUrlPassword } = await import('../../backends/vault/index.ts')
  if (url !== undefined) rememberUrlPassword(url)
}

/** Creates the directory for what this user keeps on this machine, such as the chosen vault. Returns its path. */
function createDirectory(label: string): string {
  const path = findSharedHomeDirectory(label)
  if (path === undefined)
    throw new CommandError(`this user has no home directory for the settings of ${label}; set HOME`)
  makePrivateDirectory(path)
  return path
}
