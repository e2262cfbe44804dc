import type { ClassicLevel } from 'classic-level'
import { VfsError } from '../../vfs/index.ts'
import { assertFormat, messageOf, missingPackage } from './engine-errors.ts'
import { idKey, numberAt } from './keys.ts'
import { FORMAT_KEY, put } from './level-rows.ts'

const FORMAT_VERSION = 1

/**
 * Every batch is on disk before it is acknowledged, whatever the durability asked for. Without that, LevelDB's recovery
 * after a power cut skips what is missing in the middle of its log and goes on behind it, and a log that is full is
 * left for the next without a sync: a later commit may be there while an earlier one is not, and the home is torn.
 */
export const WRITE = { sync: true }

export type Database = ClassicLevel<Uint8Array, Uint8Array>

/** ENOTSUP, EUNAVAILABLE or EIO if it does not open, or is not ours. */
export async function openDatabase(directory: string): Promise<Database> {
  const { ClassicLevel } = await loadLevel(directory)
  const db: Database = new ClassicLevel(directory, { keyEncoding: 'view', valueEncoding: 'view' })
  try {
    await db.open()
  } catch (error) {
    throw openError(directory, error)
  }
  try {
    await assertKnown(db, directory)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}

async function loadLevel(directory: string): Promise<typeof import('classic-level')> {
  try {
    return await import('classic-level')
  } catch (cause) {
    throw missingPackage(directory, 'LevelDB', 'classic-level', cause)
  }
}

async function assertKnown(db: Database, directory: string): Promise<void> {
  const found = db.getSync(FORMAT_KEY)
  if (found === undefined) await db.batch([put(FORMAT_KEY, idKey(FORMAT_VERSION))], WRITE)
  else assertFormat(directory, numberAt(found, 0), FORMAT_VERSION)
}

function openError(directory: string, error: unknown): VfsError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const isLocked = cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED'
  const detail = isLocked
    ? 'the store is open already, here or in another process, and LevelDB lets in one at a time; close it there first'
    : `the store could not be opened: ${messageOf(cause)}`
  return new VfsError(isLocked ? 'EUNAVAILABLE' : 'EIO', directory, { op: 'open', detail, cause })
}
