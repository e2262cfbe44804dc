import { isVfsError, VfsError } from '../../vfs/index.ts'
import { CommandError } from '../framework/errors.ts'

/** Messages of the engines for damaged data. */
const DAMAGE_PATTERN =
  /disk image is malformed|is not a database|MDB_(?:CORRUPTED|INVALID|PAGE_NOTFOUND)|Corruption: /

/** First hint, because no command can recover data that is missing. */
const RESTORE_HINT = 'keep a copy of it, and restore the home from a backup'
const SALVAGE_HINT = 'coppice export <directory> --salvage writes what can still be read'

/** Runs some work, and turns an error about damage into EIO with the path of the store and the next steps. */
export async function withDamageReport<Result>(home: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    // A CommandError already names the next step.
    if (error instanceof CommandError) throw error
    const message = isVfsError(error) ? (error.detail ?? error.message) : getErrorMessage(error)
    if (!DAMAGE_PATTERN.test(message)) throw error
    const why = message.replace(/^the store could not be read: /, '')
    const store = await findStorePath(home)
    throw new VfsError('EIO', store, { op: 'open', detail: formatDamagedStore(store, why), cause: error })
  }
}

/** Formats a message about a damaged store, with the next steps. */
export async function formatDamage(home: string): Promise<string> {
  return formatDamagedStore(await findStorePath(home))
}

async function findStorePath(home: string): Promise<string> {
  const { findEngine, getStorePath } = await import('../../backends/vault/index.ts')
  return getStorePath(home, findEngine(home))
}

function formatDamagedStore(store: string, why?: string): string {
  if (why?.includes(store) === true) return `${why}; ${RESTORE_HINT}`
  return `the store ${store} is damaged${why === undefined ? '' : `: ${why}`}; ${RESTORE_HINT}; ${SALVAGE_HINT}`
}

function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
