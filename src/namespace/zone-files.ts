/**
 * The files of the zones. A zone is a top directory of the namespace with its own writers: `/shared`, `/home`, `/sys`.
 * A context is the identity that an agent works under; it exists if it has a directory `/home/<context>`.
 */
import { join } from 'node:path'
import { asSystem, assertContextName } from '../access/index.ts'
import { HostFs } from '../backends/host/index.ts'
import { type Config, ZONES_VAULT } from '../config/index.ts'
import { makePrivateDirectory } from '../machine/index.ts'
import { type FileSystem, isVfsError, VfsError } from '../vfs/index.ts'
import type { OpenedFs } from './backends.ts'
import type { LazyHome } from './lazy-home.ts'
import { openOrCreateVault } from './open-or-create-vault.ts'

/** Name of the directory in a home that holds the zones as plain files (`backend = "local"`). */
const ZONES_DIRECTORY = 'vfs'

/** Directory that holds one home directory for each context. */
const CONTEXT_HOMES = '/home'
const ZONE_PATHS: readonly string[] = ['/shared', CONTEXT_HOMES, '/sys']

/** Opens the zones of a home, and creates missing ones. Several processes may do so at once. */
export async function openZoneFiles(config: Config, lazyHome: LazyHome): Promise<OpenedFs> {
  const zones =
    config.vfs?.backend === 'local'
      ? await openZonesDirectory(lazyHome)
      : await openOrCreateVault(await lazyHome.open(), ZONES_VAULT, (home) => home.createVault(ZONES_VAULT))
  for (const path of ZONE_PATHS) await ensureDirectory(zones, path)
  return zones
}

/**
 * Creates the home directory of a context and returns true if it is new. EINVAL if the name is invalid or reserved. EEXIST
 * if the name of another context differs only in upper and lower case, or if the path of the home is a file.
 */
export async function createContext(zones: FileSystem, name: string): Promise<boolean> {
  const home = `${CONTEXT_HOMES}/${assertContextName(name)}`
  const existing = await listContexts(zones)
  if (existing.includes(name)) return false
  // On a case-insensitive disk, both would have the same home.
  const similar = existing.find((context) => context.toLowerCase() === name.toLowerCase())
  if (similar === undefined) return ensureDirectory(zones, home)
  const detail = `the context '${similar}' exists, and names must differ in more than upper and lower case`
  throw new VfsError('EEXIST', home, { op: 'context', detail })
}

/** Lists the names of all contexts, sorted. A file in the directory of homes is no context. */
export async function listContexts(zones: FileSystem): Promise<string[]> {
  const entries = await Array.fromAsync(zones.readdir(CONTEXT_HOMES, asSystem))
  return entries
    .filter(({ type }) => type === 'directory')
    .map(({ name }) => name)
    .sort()
}

async function openZonesDirectory({ path, ownOptions }: LazyHome): Promise<HostFs> {
  if (path === undefined) {
    const detail = 'zones with backend = "local" need a home on disk; this one is in memory'
    throw new VfsError('EINVAL', '/', { op: 'open', detail })
  }
  const directory = join(path, ZONES_DIRECTORY)
  makePrivateDirectory(directory)
  return new HostFs(directory, ownOptions)
}

/**
 * Creates a directory and returns true if it is new. Checks first, because a mkdir of an existing one would add a
 * record to the journal. EEXIST if the path is a file.
 */
async function ensureDirectory(zones: FileSystem, path: string): Promise<boolean> {
  const found = await zones.stat(path, asSystem).catch((error: unknown) => {
    if (!isVfsError(error, 'ENOENT')) throw error
  })
  if (found !== undefined && found.type !== 'file') return false
  await zones.mkdir(path, { parents: true }, asSystem)
  return true
}
