import { isVfsError, VfsError } from '../../vfs/index.ts'
import { CommandError } from '../framework/errors.ts'

/** Messages of the engines for damaged data. */
const DAMAGE_PATTERN =
  /disk image is malformed|is not a database|MDB_(?:CORRUPTED|INVALID|PAGE_NOTFOUND)|Corruption: /

/** No command of ours brings back what is not there. */
const RESTORE_HINT = 'keep a copy of it, and bring the home back from a backup'
const SALVAGE_HINT = 'coppice export <directory> --salvage writes what can still be read'

/** Has whatever fails for a damaged store say which one it is, and what to do next. EIO. */
export async function withDamageReport<Result>(home: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    // A CommandError already names the next step.
    if (error instanceof CommandError) throw error
    const said = isVfsError(error) ? (error.detail ?? error.message) : getErrorMessage(error)
    if (!DAMAGE_PATTERN.test(said)) throw error
    const why = said.replace(/^the store could not be read: /, '')
    const store = await findStorePath(home)
    throw new VfsError('EIO', store, { op: 'open', detail: formatDamagedStore(store, why), cause: error })
  }
}

/** That the store of a home is damaged, and what to do about it. */
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
