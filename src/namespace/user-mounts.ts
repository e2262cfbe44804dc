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
import type { CleanupStack } from '../machine/index.ts'
import { assertFileSystem, isVfsError, ReadOnlyFs, VfsError } from '../vfs/index.ts'
import { type OpenedFs, openBackend } from './backends.ts'
import type { LazyHome } from './lazy-home.ts'

/** A file system with its mount point, and whether contexts may change it. */
export interface UserMount {
  readonly path: string
  readonly fs: OpenedFs
  readonly isWritable: boolean
  /** The mounted directory of this machine, if it is one. */
  readonly directory?: string
}

/** Opens the configured mounts. If the configuration is a file, a failure is a ConfigError with the mount's line. */
export async function openConfiguredMounts(
  { mounts = {} }: Config,
  source: ConfigFile | undefined,
  lazyHome: LazyHome,
  cleanup: CleanupStack,
): Promise<UserMount[]> {
  const opened: UserMount[] = []
  for (const [path, settings] of Object.entries(mounts)) {
    try {
      const fs = cleanup.use(await openBackend(settings, lazyHome))
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

/**
 * Converts file systems of the calling program to mounts. Contexts may do what the file systems can; the program
 * closes them.
 */
export function toUserMounts(mounts: Readonly<Record<string, OpenedFs>>): UserMount[] {
  return Object.entries(mounts).map(([path, fs]) => {
    assertFileSystem(fs, path, 'mount')
    const isWritable = fs.capabilities.has('write')
    return { path, fs, isWritable, ...findHostDirectory(fs) }
  })
}

/**
 * Throws EINVAL for mounts that overlap each other or the zones, and for mounts through which contexts could write a
 * reserved vault, or read or write a home.
 * @param homes directories of homes.
 */
export async function assertMountable(mounts: readonly UserMount[], homes: readonly string[]): Promise<void> {
  const paths = mounts.map(({ path }) => path)
  for (const [index, mount] of mounts.entries()) {
    const { path } = mount
    const isTwice = paths.indexOf(path) !== index
    const misplaced = isTwice ? `there are two mounts at '${path}'` : findMountProblem(path, paths)
    const detail = misplaced ?? (await findMountDanger(mount, homes))
    if (detail !== undefined) throw new VfsError('EINVAL', path, { op: 'mount', detail })
  }
}

/** Returns the reason if a mount must not be given to contexts. */
async function findMountDanger(
  { fs, directory, isWritable }: UserMount,
  homes: readonly string[],
): Promise<string | undefined> {
  const purpose = fs instanceof Vault && isWritable ? findReservedPurpose(fs.name) : undefined
  if (fs instanceof Vault && purpose !== undefined) {
    return `the vault '${fs.name}' ${purpose}; mount it as new ReadOnlyFs(vault)`
  }
  if (directory === undefined) return undefined
  for (const home of homes) {
    const detail = await findExposure(home, directory, isWritable)
    if (detail !== undefined) return detail
  }
  return undefined
}

/** Returns the real path of a mounted directory, by which protected names and the home are matched. */
function findHostDirectory(fs: OpenedFs): { readonly directory?: string } {
  if (!(fs instanceof HostFs)) return {}
  const { directory } = fs
  return { directory: existsSync(directory) ? realpathSync(directory) : directory }
}
