import type { MaskContent } from '../link/index.ts'
import type { MaskSettings } from './mask-settings.ts'
import { SessionMask } from './session-mask.ts'

/** A new link to a secret file is noticed after this time. Names of secret files are always checked. */
const REFRESH_MS = 30_000

/**
 * Creates the mask of a directory for readers outside of a session. It is the one that a session has: the first use
 * looks for secret files and their other names, later ones repeat that now and then, without waiting for it.
 */
export function createDirectoryMask(settings: MaskSettings, directory: string): () => Promise<MaskContent> {
  let found: Promise<SessionMask> | undefined
  let time = 0
  const find = () => {
    time = performance.now()
    return SessionMask.create(settings, directory, { lower: directory, staged: [] })
  }
  return async () => {
    if (found === undefined) {
      found = find()
      found.catch(() => {
        found = undefined
      })
    } else if (performance.now() - time > REFRESH_MS) {
      const next = find()
      next.then(
        () => {
          found = next
        },
        // The old one stays in use.
        () => {},
      )
    }
    const mask = await found
    return (path, content) => mask.maskContent(path, content)
  }
}
