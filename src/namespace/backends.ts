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
export async function openBackend(settings: UserMountSettings, lazyHome: LazyHome): Promise<OpenedFs> {
  switch (settings.backend) {
    case 'host':
      return openDirectory(settings.directory, lazyHome)
    case 'memory':
      return new MemoryFs()
    case 'vault':
      return openVault(settings.vault, settings.at, lazyHome)
  }
}

async function openDirectory(directory: string, lazyHome: LazyHome): Promise<OpenedFs> {
  const fs = new HostFs(directory, lazyHome.hostOptions)
  // Fails now instead of during an agent's work, since it is opened on first use.
  await fs.stat('/')
  return fs
}

async function openVault(name: string, at: string | undefined, lazyHome: LazyHome): Promise<OpenedFs> {
  const vault = await (await lazyHome.open()).vault(name)
  if (at === undefined) return vault
  if ((await vault.checkpoints()).some((checkpoint) => checkpoint.name === at)) return vault.at(at)
  throw new VfsError('ENOENT', at, { op: 'mount', detail: `there is no checkpoint '${at}' of '${name}'` })
}
