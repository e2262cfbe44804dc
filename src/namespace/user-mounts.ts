import { existsSync, realpathSync } from 'node:fs'
import { HostFs } from '../backends/host/index.ts'
import { Vault } from '../backends/vault/index.ts'
import {
  type Config,
  ConfigError,
  type ConfigFile,
  findExposure,
  findMountProblem,
  findReservedPurpose,
} from '../config/index.ts'
import { isVfsError, ReadOnlyFs, VfsError } from '../vfs/index.ts'
import { type OpenedFs, openBackend } from './backends.ts'
import type { CleanupStack } from './cleanup-stack.ts'
import type { LazyHome } from './lazy-home.ts'

/** A file system at its place, and whether contexts may change it. */
export interface UserMount {
  readonly path: string
  readonly fs: OpenedFs
  readonly isWritable: boolean
  /** The directory of this machine that it is, if so. */
  readonly directory?: string
}

/** Opens what the configuration mounts. ConfigError with the mount's line if that came from a file. */
export async function openConfiguredMounts(
  { mounts = {} }: Config,
  source: ConfigFile | undefined,
  door: LazyHome,
  belongings: CleanupStack,
): Promise<UserMount[]> {
  const opened: UserMount[] = []
  for (const [path, settings] of Object.entries(mounts)) {
    try {
      const fs = belongings.use(await openBackend(settings, door))
      const isWritable = settings.access === 'write' && fs.capabilities.has('write')
      opened.push({ path, fs: isWritable ? fs : new ReadOnlyFs(fs), isWritable, ...findHostDirectory(fs) })
    } catch (error) {
      if (source === undefined || !isVfsError(error)) throw error
      const problem = { line: source.getLine('mounts', path), message: error.detail ?? error.message }
      throw new ConfigError(source.file, [problem])
    }
  }
  return opened
}

/** File systems of the program itself; what they can is what contexts may. They are the program's to close. */
export function toUserMounts(mounts: Readonly<Record<string, OpenedFs>>): UserMount[] {
  return Object.entries(mounts).map(([path, fs]) => {
    const isWritable = fs.capabilities.has('write')
    return { path, fs, isWritable, ...findHostDirectory(fs) }
  })
}

/**
 * Refuses mounts that get in each other's way or in that of the zones, and those by which contexts could write the
 * zones or a home, or read what is in one. EINVAL.
 * @param homes the directories of homes.
 */
export async function assertMountable(mounts: readonly UserMount[], homes: readonly string[]): Promise<void> {
  const paths = mounts.map(({ path }) => path)
  for (const [index, mount] of mounts.entries()) {
    const { path } = mount
    const isTwice = paths.indexOf(path) !== index
    const misplaced = isTwice ? `two mounts are at '${path}'` : findMountProblem(path, paths)
    const detail = misplaced ?? (await findMountDanger(mount, homes))
    if (detail !== undefined) throw new VfsError('EINVAL', path, { op: 'mount', detail })
  }
}

/** Returns why a mount cannot be given to contexts, if so. */
async function findMountDanger(
  { fs, directory, isWritable }: UserMount,
  homes: readonly string[],
): Promise<string | undefined> {
  const kept = fs instanceof Vault && isWritable ? findReservedPurpose(fs.name) : undefined
  if (fs instanceof Vault && kept !== undefined) {
    return `the vault '${fs.name}' ${kept}; mount it as new ReadOnlyFs(vault)`
  }
  if (directory === undefined) return undefined
  for (const home of homes) {
    const detail = await findExposure(home, directory, isWritable)
    if (detail !== undefined) return detail
  }
  return undefined
}

/** Its real path, by which names are protected and the home is found. */
function findHostDirectory(fs: OpenedFs): { readonly directory?: string } {
  if (!(fs instanceof HostFs)) return {}
  const { directory } = fs
  return { directory: existsSync(directory) ? realpathSync(directory) : directory }
}
