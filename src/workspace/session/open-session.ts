import { isVfsError, VfsError } from '../../vfs/index.ts'
import type { CommandSession, LiveBase, SessionBase, SessionOptions } from './command-session.ts'
import { openDirSession } from './copy/dir-session.ts'
import { openOverlaySession } from './overlay/overlay-session.ts'

export type SessionKind = CommandSession['kind'] | 'auto'

/**
 * Opens a session of a kind, or with `auto` the fastest this host has. Throws ENOTSUP if it has none of that kind.
 * A base that is served live makes it a `fuse` session.
 */
export async function openSession(
  kind: SessionKind,
  base: SessionBase | LiveBase,
  options: SessionOptions,
): Promise<CommandSession> {
  if ('vault' in base) {
    // Loaded when it is needed: every other command starts faster without it.
    const { openFuseSession } = await import('./fuse/fuse-session.ts')
    return openFuseSession(base, options)
  }
  if (kind === 'dir') return openDirSession(base, options)
  if (kind === 'overlay') return openOverlaySession(base, options)
  if (kind === 'fuse') {
    const detail =
      "a directory cannot be served through FUSE; import it into a vault, or use a session of kind 'overlay' or 'dir'"
    throw new VfsError('ENOTSUP', base.lower, { op: 'session', detail })
  }
  try {
    return await openOverlaySession(base, options)
  } catch (error) {
    if (!isVfsError(error, 'ENOTSUP')) throw error
    return openDirSession(base, options)
  }
}
