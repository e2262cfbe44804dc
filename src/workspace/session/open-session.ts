import { isVfsError, VfsError } from '../../vfs/index.ts'
import { openDirSession } from './dir-session.ts'
import { openOverlaySession } from './overlay-session.ts'
import type { Session, SessionBase, SessionOptions } from './session.ts'

export type SessionKind = Session['kind'] | 'auto'

/** Opens a session of a kind, or with `auto` the fastest this host has. ENOTSUP if it has none of that kind. */
export async function openSession(
  kind: SessionKind,
  base: SessionBase,
  options: SessionOptions,
): Promise<Session> {
  if (kind === 'dir') return openDirSession(base, options)
  if (kind === 'overlay') return openOverlaySession(base, options)
  if (kind === 'fuse') {
    const detail = "a directory cannot be served through FUSE; take a session of kind 'overlay' or 'dir'"
    throw new VfsError('ENOTSUP', base.lower, { op: 'session', detail })
  }
  try {
    return await openOverlaySession(base, options)
  } catch (error) {
    if (!isVfsError(error, 'ENOTSUP')) throw error
    return openDirSession(base, options)
  }
}
