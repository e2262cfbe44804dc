import { realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Config, UserMountSettings } from './config.ts'
import { ConfigError, type ConfigProblem } from './config-error.ts'
import type { ConfigFile } from './config-file.ts'
import { containsHome, isInsideHome } from './home-paths.ts'

/** Resolves every directory of the configuration; a relative one starts at the directory of its file. */
export function resolveConfigPaths({ config, file }: ConfigFile): Config {
  const resolveDirectory = (directory: string) => resolve(dirname(file), directory)
  const resolveMount = (mount: UserMountSettings): UserMountSettings =>
    mount.backend === 'host' ? { ...mount, directory: resolveDirectory(mount.directory) } : mount
  const { mounts, host } = config
  const allow = host?.allow?.map(resolveDirectory)
  const resolvedMounts = Object.entries(mounts ?? {}).map(
    ([path, mount]) => [path, resolveMount(mount)] as const,
  )
  return {
    ...config,
    ...(mounts !== undefined && { mounts: Object.fromEntries(resolvedMounts) }),
    ...(host !== undefined && { host: { ...host, ...(allow !== undefined && { allow }) } }),
  }
}

/**
 * Throws ConfigError for a configuration that names a directory of this machine which is missing or inside the home, or
 * a mount for writing that contains the home.
 */
export async function assertDirectories(source: ConfigFile): Promise<void> {
  const { mounts = {}, host } = resolveConfigPaths(source)
  const home = dirname(source.file)
  const problems: ConfigProblem[] = []
  const addProblem = (message: string | undefined, ...keys: string[]) => {
    if (message !== undefined) problems.push({ line: source.getLine(...keys), message })
  }
  for (const [path, mount] of Object.entries(mounts)) {
    if (mount.backend !== 'host') continue
    const isWritable = mount.access === 'write'
    const problem =
      (await findDirectoryProblem(mount.directory)) ?? (await findExposure(home, mount.directory, isWritable))
    addProblem(problem, 'mounts', path, 'directory')
  }
  for (const [index, directory] of (host?.allow ?? []).entries()) {
    addProblem(
      (await findDirectoryProblem(directory)) ?? (await findExposure(home, directory)),
      'host',
      'allow',
      String(index),
    )
  }
  if (problems.length > 0) throw new ConfigError(source.file, problems)
}

/**
 * Returns the reason why a directory cannot be given to contexts: it is inside a home, or contains one and is to be
 * mounted for writing. Undefined if it can.
 */
export async function findExposure(
  home: string,
  directory: string,
  isWritable = false,
): Promise<string | undefined> {
  const toRealPath = (path: string) => realpath(path).catch(() => path)
  const [realHome, realDirectory] = [await toRealPath(home), await toRealPath(directory)]
  if (isInsideHome(realDirectory, realHome)) {
    return `${directory} is inside the home ${home}, which is closed to agents; name a directory outside of it`
  }
  if (!isWritable || !containsHome(realDirectory, realHome)) return undefined
  return `${directory} contains the home ${home}; mount another directory, or this one with access = "read"`
}

async function findDirectoryProblem(directory: string): Promise<string | undefined> {
  try {
    return (await stat(directory)).isDirectory() ? undefined : `${directory} is not a directory`
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return `there is no directory ${directory}`
    return `the directory ${directory} cannot be opened: ${error.code}`
  }
}
