import { realpath } from 'node:fs/promises'
import { resolve as resolveFile } from 'node:path'
import type { Home } from '../../backends/vault/index.ts'
import { readConfig } from '../../config/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError } from '../framework/errors.ts'
import { withDamageReport } from './damaged-store.ts'
import { isHomeMissing, toHomeAccessError } from './home-access.ts'
import { isDatabaseUrl } from './home-path.ts'
import type { OpenHome } from './open-home.ts'
import { assertNoPassword, withSharedHome } from './shared-home.ts'

/** A second home of one command. */
export interface OtherHome {
  readonly home: Home
  /** Its directory or URL, always the same for the same home. */
  readonly location: string
}

type OtherHomeWork<Result> = (other: OtherHome) => Promise<Result>

interface OtherHomeAccess {
  /** Creates the home if it is missing. */
  readonly create?: boolean
}

/**
 * Opens a second home, in a directory or a database, and closes it when the work ends. CommandError if it is the home
 * of this command, or missing and not to be created; UsageError if its URL has a password.
 *
 * @param address a directory or a URL.
 */
export async function withOtherHome<Result>(
  call: CommandInvocation,
  { label }: OpenHome,
  address: string,
  work: OtherHomeWork<Result>,
  access: OtherHomeAccess = {},
): Promise<Result> {
  const isShared = isDatabaseUrl(address)
  const [location, own] = await Promise.all(
    [isShared ? address : resolveFile(address), label].map(toLocation),
  )
  if (location === own) throw new CommandError(`${label} is the home of this command; name another one`)
  if (!isShared) return withOtherDirectory(location ?? address, work, access)
  await assertNoPassword(address)
  const run = ({ home, label: shown }: Pick<OpenHome, 'home' | 'label'>) => work({ home, location: shown })
  return withSharedHome(call, address, run, access)
}

/**
 * Throws CommandError if a directory is no home; a database is not looked at. For commands that would create their own
 * home before they open the other.
 */
export async function assertOtherHome(address: string): Promise<void> {
  const path = resolveFile(address)
  if (isDatabaseUrl(address) || !isHomeMissing(path)) return
  throw new CommandError(`there is no home in ${path}; name the directory or URL of another home`)
}

/** Returns one spelling for all paths of the same home. */
function toLocation(home: string): string | Promise<string> {
  return isDatabaseUrl(home) ? home : realpath(home).catch(() => home)
}

async function withOtherDirectory<Result>(
  path: string,
  work: OtherHomeWork<Result>,
  { create = false }: OtherHomeAccess,
): Promise<Result> {
  if (!create) await assertOtherHome(path)
  const { openHome } = await import('../../backends/vault/index.ts')
  const { engine, durability } = await readConfig(path)
  const settings = {
    ...(engine !== undefined && { engine }),
    ...(durability !== undefined && { durability }),
  }
  return withDamageReport(path, async () => {
    await using home = await openHome({ path, ...settings }).catch((error: unknown) => {
      throw toHomeAccessError(path, error)
    })
    return await work({ home, location: path })
  })
}
