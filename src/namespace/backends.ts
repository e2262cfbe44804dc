import { HostFs } from '../backends/host/index.ts'
import type { UserMountSettings } from '../config/index.ts'
import { type FileSystem, MemoryFs, VfsError } from '../vfs/index.ts'
import type { LazyHome } from './lazy-home.ts'

/** A file system that may hold resources. */
export type OpenedFs = FileSystem & Partial<AsyncDisposable>

/**
 * Opens the backend of a configured mount. This switch lists all backends: nothing registers itself, and the compiler
 * reports a missing one. ENOENT if the directory, the vault or its checkpoint does not exist.
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
  // `HostFs` opens the directory on first use. A missing one must fail now, not during an agent's work.
  await fs.stat('/')
  return fs
}

/** Opens a vault, or its state at a checkpoint. */
async function openVault(
  name: string,
  checkpoint: string | undefined,
  lazyHome: LazyHome,
): Promise<OpenedFs> {
  const vault = await (await lazyHome.open()).vault(name)
  if (checkpoint === undefined) return vault
  if ((await vault.checkpoints()).some((existing) => existing.name === checkpoint))
    return vault.at(checkpoint)
  const detail = `there is no checkpoint '${checkpoint}' of '${name}'`
  throw new VfsError('ENOENT', checkpoint, { op: 'mount', detail })
}
