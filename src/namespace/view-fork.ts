import { join } from 'node:path'
import type { Home } from '../backends/vault/index.ts'
import { VfsError } from '../vfs/index.ts'
import {
  createMaskSettings,
  type ForkView,
  findForkByName,
  LinkedDirectory,
  type MaskChoice,
  openForkView,
} from '../workspace/index.ts'

const SESSIONS_DIRECTORY = 'sessions'

/**
 * Opens a view of a fork of a directory as it is now, for programs that read it at the directory's own path. EINVAL if
 * it is no such fork, ENOENT if it does not exist, ENOTSUP if this host cannot mount an overlay.
 */
export async function viewFork(home: Home, name: string, mask: MaskChoice | undefined): Promise<ForkView> {
  const found = await findForkByName(home, name)
  if (found === undefined || home.path === undefined)
    throw new VfsError('EINVAL', name, { op: 'fork', detail: `'${name}' is not a fork of a directory` })
  return openForkView({
    link: new LinkedDirectory(home, found.directory),
    fork: found.fork,
    sessions: join(home.path, SESSIONS_DIRECTORY),
    mask: mask && createMaskSettings(home.path, mask),
  })
}
