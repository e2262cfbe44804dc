import { join } from 'node:path'
import { asSystem, assertContextName } from '../access/index.ts'
import { HostFs } from '../backends/host/index.ts'
import { type Config, ZONES_VAULT } from '../config/index.ts'
import { makePrivateDirectory } from '../machine/index.ts'
import { type FileSystem, VfsError } from '../vfs/index.ts'
import type { OpenedFs } from './backends.ts'
import type { LazyHome } from './lazy-home.ts'
import { openOrCreateVault } from './open-or-create-vault.ts'

/** Directory of the zones in a home that has them as plain files. */
const ZONES_DIRECTORY = 'vfs'

const HOMES = '/home'
const ZONE_PATHS: readonly string[] = ['/shared', HOMES, '/sys']

/** Opens the zones of a home, and creates missing ones. Several processes may do so at once. */
export async function openZoneFiles(config: Config, lazyHome: LazyHome): Promise<OpenedFs> {
  const zones =
    config.vfs?.backend === 'local'
      ? await openZonesDirectory(lazyHome)
      : await openOrCreateVault(await lazyHome.open(), ZONES_VAULT, (home) => home.createVault(ZONES_VAULT))
  for (const path of ZONE_PATHS) await ensureDirectory(zones, path)
  return zones
}

/** Creates the home of a context and reports whether it is new. EINVAL for a reserved name, EEXIST for one that differs by case only. */
export async function createContext(zones: FileSystem, name: string): Promise<boolean> {
  const home = `${HOMES}/${assertContextName(name)}`
  const known = await listContexts(zones)
  if (known.includes(name)) return false
  // On a case-insensitive disk, both would have the same home.
  const similar = known.find((other) => other.toLowerCase() === name.toLowerCase())
  if (similar === undefined) return ensureDirectory(zones, home)
  const detail = `the context '${similar}' exists, and names must differ in more than upper and lower case`
  throw new VfsError('EEXIST', home, { op: 'context', detail })
}

/** Lists the names of all contexts, sorted. */
export async function listContexts(zones: FileSystem): Promise<string[]> {
  const entries = await Array.fromAsync(zones.readdir(HOMES, asSystem))
  return entries.filter(({ type }) => type === 'directory').map(({ name }) => name)
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

/** True if created now; an existing one adds nothing to the journal. */
async function ensureDirectory(zones: FileSystem, path: string): Promise<boolean> {
  if (await zones.exists(path, asSystem)) return false
  await zones.mkdir(path, { parents: true }, asSystem)
  return true
}
