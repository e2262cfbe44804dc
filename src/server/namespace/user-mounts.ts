import { isVfsError, ReadOnlyFs, VfsError } from '../../vfs/index.ts'
import { type OpenedFs, openBackend } from '../backends.ts'
import { type Config, ConfigError, type ConfigFile, mountProblem } from '../config/index.ts'
import type { Belongings } from './belongings.ts'
import type { HomeDoor } from './home-door.ts'

/** A file system at its place, and whether contexts may change it. */
export interface UserMount {
  readonly path: string
  readonly fs: OpenedFs
  readonly isWritable: boolean
}

/** Opens what the configuration mounts. ConfigError with the mount's line if that came from a file. */
export async function configuredMounts(
  { mounts = {} }: Config,
  source: ConfigFile | undefined,
  door: HomeDoor,
  belongings: Belongings,
): Promise<UserMount[]> {
  const opened: UserMount[] = []
  for (const [path, settings] of Object.entries(mounts)) {
    try {
      const fs = belongings.keep(await openBackend(settings, door))
      const isWritable = settings.access === 'write' && fs.capabilities.has('write')
      opened.push({ path, fs: isWritable ? fs : new ReadOnlyFs(fs), isWritable })
    } catch (error) {
      if (source === undefined || !isVfsError(error)) throw error
      const problem = { line: source.lineOf('mounts', path), message: error.detail ?? error.message }
      throw new ConfigError(source.file, [problem])
    }
  }
  return opened
}

/** File systems of the program itself; what they can is what contexts may. They are the program's to close. */
export function givenMounts(mounts: Readonly<Record<string, OpenedFs>>): UserMount[] {
  return Object.entries(mounts).map(([path, fs]) => ({ path, fs, isWritable: fs.capabilities.has('write') }))
}

/** Refuses mounts that get in each other's way, or in that of the zones. EINVAL. */
export function assertMountable(mounts: readonly UserMount[]): void {
  const paths = mounts.map(({ path }) => path)
  for (const [index, path] of paths.entries()) {
    const isTwice = paths.indexOf(path) !== index
    const detail = isTwice ? `two mounts are at '${path}'` : mountProblem(path, paths)
    if (detail !== undefined) throw new VfsError('EINVAL', path, { op: 'mount', detail })
  }
}
