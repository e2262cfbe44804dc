import { isVfsError, VfsError } from '../vfs/index.ts'
import { CommandError } from './errors.ts'

/** What the engines say of bytes that make no sense. */
const DAMAGED =
  /disk image is malformed|is not a database|MDB_(?:CORRUPTED|INVALID|PAGE_NOTFOUND)|Corruption: /

/** No command of ours brings back what is not there. */
const NEXT = 'keep a copy of it, and bring the home back from a backup'
const SOME = 'coppice export <directory> --salvage writes what can still be read'

/** Has whatever fails for a damaged store say which one it is, and what to do next. EIO. */
export async function namingStore<Result>(home: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    // What is told already with what to do is more than damage.
    if (error instanceof CommandError) throw error
    const said = isVfsError(error) ? (error.detail ?? error.message) : messageOf(error)
    if (!DAMAGED.test(said)) throw error
    const why = said.replace(/^the store could not be read: /, '')
    const store = await storeOf(home)
    throw new VfsError('EIO', store, { op: 'open', detail: textOf(store, why), cause: error })
  }
}

/** That the store of a home is damaged, and what to do about it. */
export async function damageText(home: string): Promise<string> {
  return textOf(await storeOf(home))
}

async function storeOf(home: string): Promise<string> {
  const { findEngine, storePlace } = await import('../backends/vault/index.ts')
  return storePlace(home, findEngine(home))
}

function textOf(store: string, why?: string): string {
  if (why?.includes(store) === true) return `${why}; ${NEXT}`
  return `the store ${store} is damaged${why === undefined ? '' : `: ${why}`}; ${NEXT}; ${SOME}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
