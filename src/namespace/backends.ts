import { HostFs } from '../backends/host/index.ts'
import type { UserMountSettings } from '../config/index.ts'
import { type FileSystem, MemoryFs, VfsError } from '../vfs/index.ts'
import type { LazyHome } from './lazy-home.ts'

/** A file system that may hold resources. */
export type OpenedFs = FileSystem & Partial<AsyncDisposable>

/**
 * Opens a configured mount. This switch lists all backends: nothing registers itself, and the compiler reports a
 * missing one. ENOENT.
 */
export async function openBackend(settings: UserMountSettings, door: LazyHome): Promise<OpenedFs> {
  switch (settings.backend) {
    case 'host':
      return openDirectory(settings.directory, door)
    case 'memory':
      return new MemoryFs()
    case 'vault':
      return openVault(settings.vault, settings.at, door)
  }
}

async function openDirectory(directory: string, door: LazyHome): Promise<OpenedFs> {
  const fs = new HostFs(directory, door.hostOptions)
  // Fails now instead of during an agent's work, since it is opened on first use.
  await fs.stat('/')
  return fs
}

async function openVault(name: string, at: string | undefined, door: LazyHome): Promise<OpenedFs> {
  const vault = await (await door.open()).vault(name)
  if (at === undefined) return vault
  if ((await vault.checkpoints()).some((checkpoint) => checkpoint.name === at)) return vault.at(at)
  throw new VfsError('ENOENT', at, { op: 'mount', detail: `there is no checkpoint '${at}' of '${name}'` })
}
