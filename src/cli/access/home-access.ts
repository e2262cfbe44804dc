import { readdirSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join, resolve as resolveFile } from 'node:path'
import type { Vault } from '../../backends/vault/index.ts'
import {
  type Config,
  type ConfiguredEngine,
  isInternalVault,
  readConfig,
  setConfig,
  ZONES_VAULT,
} from '../../config/index.ts'
import { isErrno } from '../../machine/index.ts'
import { type CallContext, type FileSystem, isVfsError, VfsError } from '../../vfs/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError, formatErrorLine } from '../framework/errors.ts'
import { UsageError } from '../framework/usage-error.ts'
import { withDamageReport } from './damaged-store.ts'
import { createHiddenHomeError, createMissingHomeError, isHomeHidden } from './hidden-home.ts'
import { findHomePath, findHomeUrl, getAccountDirectory, isDatabaseUrl } from './home-path.ts'
import type { HomeAccess, OpenHome, OpenVault } from './open-home.ts'
import { filterUserVaults } from './vault-names.ts'

export type { OpenHome, OpenVault } from './open-home.ts'

/** A context name the journal can hold. */
const CONTEXT_NAME = /^[A-Za-z0-9_-]+$/

/** Names that mark a home: a store, its record, or the tool cache beside zones in plain files. */
const HOME_MARKER = /^(?:store\.(?:db|lmdb|level)|home\.json|tool_cache)$/

/** Vaults that a message names; it counts the rest. */
const MAX_LISTED_VAULTS = 10

/** Says how to get a fork of a directory or a vault; most people who see it want the first. */
const NO_VAULT_MESSAGE =
  'there is no fork of this directory, and no vault; create a fork with: coppice exec -- <command>, or a vault with: coppice vault create <name>'

const CREATE_HOME = 'coppice exec -- <command> creates one, or create one with: coppice vault create <name>'

/**
 * Opens the home of a command, and closes it when the work ends or fails. CommandError if there is none, unless
 * `create` is set.
 */
export async function withHome<Result>(
  call: CommandInvocation,
  work: (open: OpenHome) => Promise<Result>,
  access: HomeAccess = {},
): Promise<Result> {
  const url = findHomeUrl(call.option('home'))
  if (url === undefined) return withLocalHome(call, work, access)
  const { withSharedHome } = await import('./shared-home.ts')
  return withSharedHome(call, url, (open) => work({ ...open, ctx: createCallContext(call) }), access)
}

async function withLocalHome<Result>(
  call: CommandInvocation,
  work: (open: OpenHome) => Promise<Result>,
  { create = false, engine, toSalvage = false }: HomeAccess = {},
): Promise<Result> {
  const path = await resolveHomePath(call)
  const isNew = isHomeMissing(path)
  if (isNew && !create) {
    throw createMissingHomeError(call, path, CREATE_HOME)
  }
  const config = await prepareConfig(path, engine)
  // Loaded on use: help, version and completion do not need the store.
  const { openHome } = await import('../../backends/vault/index.ts')
  const { engine: configuredEngine, durability } = config
  const settings = {
    ...(configuredEngine !== undefined && { engine: configuredEngine }),
    ...(durability !== undefined && { durability }),
  }
  return withDamageReport(path, async () => {
    const home = await openHome({ path, toSalvage, ...settings }).catch(async (error: unknown) => {
      throw isHomeHidden(call, path) ? createHiddenHomeError(path, error) : toHomeAccessError(path, error)
    })
    if (!isNew && home.mended.length > 0 && !call.has('json')) {
      const { formatRepairedHome } = await import('./home-privacy.ts')
      call.terminal.err.write(formatErrorLine(formatRepairedHome(home.mended)))
    }
    try {
      const { recoverDirectory } = await import('./recover-directory.ts')
      await recoverDirectory(call, home)
      return await work({ home, path, label: path, config, ctx: createCallContext(call) })
    } finally {
      await home.close()
    }
  })
}

/** Adds the next step to a permission error of a home; returns any other error as it is. */
export function toHomeAccessError(path: string, error: unknown): unknown {
  const reason = isVfsError(error) ? error.cause : error
  const code = reason instanceof Error && 'syscall' in reason && 'code' in reason ? reason.code : undefined
  if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') return error
  const detail = `cannot use ${path} as a home: ${String(reason)}; name another with --home or COPPICE_HOME`
  return new VfsError(code, path, { op: 'home', detail: detail.replace('Error: ', ''), cause: error })
}

/** Opens the home and the vault of a command. */
export function withVault<Result>(
  call: CommandInvocation,
  work: (open: OpenVault) => Promise<Result>,
): Promise<Result> {
  return withHome(call, async (open) => {
    const name = await resolveVaultName(call, open)
    return work({ ...open, vault: await open.home.vault(name) })
  })
}

/**
 * Returns the name of the vault that is named, current, or the only one; forks of other directories do not count.
 * Otherwise a CommandError lists the vaults.
 */
export async function resolveVaultName(call: CommandInvocation, { home, config }: OpenHome): Promise<string> {
  const named = call.option('vault')
  if (named !== undefined) return named
  if (config.vault !== undefined) {
    const names = filterUserVaults(await home.vaults())
    if (names.includes(config.vault)) return config.vault
    const choose = 'choose another with: coppice vault use <name>'
    throw new CommandError(
      `the current vault '${config.vault}' does not exist any more; ${choose} (${formatNames(names)})`,
    )
  }
  const { listDefaultVaults } = await import('./default-vaults.ts')
  const names = await listDefaultVaults(home)
  const [only] = names
  if (only === undefined) throw new CommandError(NO_VAULT_MESSAGE)
  if (names.length === 1) return only
  const next = 'name one with --vault, or choose one with: coppice vault use <name>'
  throw new CommandError(`there are several vaults; ${next} (${formatNames(names)})`)
}

/**
 * Returns the name of the vault to import into. Creates it if `--vault` names a missing one. CommandError if none is
 * named and there is none.
 */
export async function ensureVault(call: CommandInvocation, open: OpenHome): Promise<string> {
  const names = await open.home.vaults()
  const named = call.option('vault')
  if (named === undefined && names.length === 0) {
    throw new CommandError('the home has no vault yet; name a new one with --vault <name>')
  }
  const vault = await resolveVaultName(call, open)
  if (!names.includes(vault)) await open.home.createVault(vault)
  return vault
}

/** Returns the name of a vault to work in. CommandError if it is reserved. */
export function assertUserVault(name: string): string {
  if (isInternalVault(name)) {
    throw new CommandError(`the name '${name}' is reserved for coppice exec; choose another`)
  }
  if (name !== ZONES_VAULT) return name
  throw new CommandError(`the vault '${name}' holds the zones of all contexts; choose another`)
}

/** Returns the vault, or its state at the checkpoint of `--at`. */
export function getVaultView(call: CommandInvocation<'at'>, vault: Vault): FileSystem {
  const at = call.option('at')
  return at === undefined ? vault : vault.at(at)
}

/**
 * Returns the directory of the command's home; for one in a database, that of this machine's part, which it creates.
 * CommandError if the user has no home directory.
 */
export async function resolveHomePath(call: CommandInvocation): Promise<string> {
  const named = call.option('home')
  const path = findHomePath(named)
  const url = findHomeUrl(named)
  if (url !== undefined || findHomeUrl(undefined) !== undefined) {
    const { openSharedDirectory, rememberEnvironmentPassword } = await import('./shared-home.ts')
    await rememberEnvironmentPassword()
    if (url !== undefined) return openSharedDirectory(call, url)
  }
  if (path !== undefined) {
    assertDirectory(path)
    return path
  }
  throw new CommandError('this user has no home directory; name a home with --home or COPPICE_HOME')
}

/** Lists the known other homes of this user. Agents and commands may not reach them either. */
export function listKnownHomes(home: string): string[] {
  const directories = [homedir(), getAccountDirectory()].filter((directory) => directory !== '')
  const homes = [
    ...directories.map((directory) => join(directory, '.coppice')),
    ...[process.env['COPPICE_HOME'] ?? ''].filter((path) => path !== '' && !isDatabaseUrl(path)),
  ]
  return [...new Set(homes.map((path) => resolveFile(path)))].filter((path) => path !== home)
}

/**
 * Returns the configuration of a home. Records the engine of a new one. UsageError if an existing home uses another
 * engine.
 */
async function prepareConfig(path: string, engine: ConfiguredEngine | undefined): Promise<Config> {
  const config = await readConfig(path)
  if (engine === undefined) return config
  const { findEngine } = await import('../../backends/vault/index.ts')
  const current = findEngine(path) ?? config.engine ?? engine
  if (current !== engine) {
    throw new UsageError(`the home in ${path} uses the engine ${current}; name another --home for ${engine}`)
  }
  if (config.engine === undefined) await setConfig(path, 'engine', engine)
  return { ...config, engine }
}

/** Reports whether a directory has no home yet; it may have other files, such as a configuration. */
export function isHomeMissing(path: string): boolean {
  try {
    return !readdirSync(path).some((name) => HOME_MARKER.test(name))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return true
    assertDirectory(path)
    throw toHomeAccessError(path, error)
  }
}

/** Throws CommandError if a path, or one above it, is a file. */
function assertDirectory(path: string): void {
  try {
    if (statSync(path).isDirectory()) return
  } catch (error) {
    if (!isErrno(error, 'ENOTDIR')) return
  }
  throw new CommandError(`${path} is not a directory; name one with --home or COPPICE_HOME`)
}

function createCallContext(call: CommandInvocation): CallContext {
  const context = process.env['COPPICE_CONTEXT'] || getUserName()
  const trace = call.option('trace') ?? process.env['COPPICE_TRACE']
  return {
    signal: call.terminal.signal,
    ...(CONTEXT_NAME.test(context) && { caller: { kind: 'context', context } }),
    ...(trace && { trace }),
  }
}

/** Returns the user's name, or an empty string if this machine has none. */
export function getUserName(): string {
  try {
    return userInfo().username
  } catch {
    // The user has no account entry, as in some containers.
    return ''
  }
}

function formatNames(names: readonly string[]): string {
  const firstNames = names.slice(0, MAX_LISTED_VAULTS).join(', ')
  return names.length > MAX_LISTED_VAULTS
    ? `${firstNames}, … ${names.length} in all`
    : firstNames || 'there is none'
}
