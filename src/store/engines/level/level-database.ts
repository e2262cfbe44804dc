import { realpathSync } from 'node:fs'
import type { ClassicLevel } from 'classic-level'
import { makeFilesPrivate, makePrivateDirectory } from '../../../machine/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { decodeNumberAt, encodeIdKey } from '../binary-keys.ts'
import {
  createDamagedStoreError,
  createForeignStoreError,
  createMissingPackageError,
  getErrorMessage,
} from '../engine-errors.ts'
import { assertFormat, FIRST_FORMAT } from '../store-format.ts'
import { assertLevelIntact, findLevelDamage, recordClosedSizes } from './level-check.ts'
import { createPut, FORMAT_KEY } from './level-rows.ts'

/**
 * Syncs every batch before it is acknowledged, whatever the durability. Without that, LevelDB's recovery after power
 * loss skips a gap in its log, and a full log is closed without a sync. A later commit could then survive without an
 * earlier one.
 */
export const WRITE_OPTIONS = { sync: true }

export type LevelDatabase = ClassicLevel<Uint8Array, Uint8Array>

/**
 * Directories this process has open. LevelDB must not open one of them again: its refused attempt closes the lock
 * file, and with it releases the lock against other processes.
 */
const openDirectories = new Set<string>()

/**
 * Opens the database of a directory, which is created if missing. ENOTSUP without the package, for another format and
 * for a database of another program; EUNAVAILABLE if it is open already; EIO if it is damaged.
 * @param isDamaged opens a damaged database if LevelDB can; it drops what it cannot read.
 */
export async function openLevelDatabase(directory: string, isDamaged = false): Promise<LevelDatabase> {
  const { ClassicLevel } = await loadLevel(directory)
  const storePath = resolveDirectory(directory)
  if (openDirectories.has(storePath)) throw createAlreadyOpenError(directory)
  if (!isDamaged) assertLevelIntact(storePath)
  openDirectories.add(storePath)
  const db: LevelDatabase = new ClassicLevel(storePath, { keyEncoding: 'view', valueEncoding: 'view' })
  try {
    await db.open()
    await assertOwnFormat(db, directory)
    trySettleFiles(storePath)
    db.once('closed', () => {
      openDirectories.delete(storePath)
      recordClose(storePath)
    })
    return db
  } catch (error) {
    await db.close()
    openDirectories.delete(storePath)
    const failure = toOpenError(directory, error)
    // A damaged block may look like a database of another program, or of a later version.
    const [damage] = isDamaged || failure.code === 'EUNAVAILABLE' ? [] : findLevelDamage(storePath)
    throw damage === undefined ? failure : createDamagedStoreError(directory, damage)
  }
}

/** Lets LevelDB rebuild the manifest from tables and logs. */
export async function repairLevelDatabase(directory: string): Promise<void> {
  const { ClassicLevel } = await loadLevel(directory)
  await ClassicLevel.repair(directory)
}

/** Records the sizes of the closed files, for the check of the next open. */
function recordClose(storePath: string): void {
  try {
    recordClosedSizes(storePath)
  } catch {
    // The directory was removed, or its disk is full: the next open cannot detect a truncated log.
  }
  trySettleFiles(storePath)
}

/** Restores permissions and owner, which LevelDB chooses itself; the directory is private meanwhile. */
function trySettleFiles(storePath: string): void {
  try {
    makeFilesPrivate(storePath)
  } catch {
    // The directory was removed while it was open.
  }
}

/** Returns the real path of a directory, created if missing. */
function resolveDirectory(directory: string): string {
  try {
    makePrivateDirectory(directory)
    return realpathSync(directory)
  } catch (error) {
    throw toOpenError(directory, error)
  }
}

async function loadLevel(directory: string): Promise<typeof import('classic-level')> {
  try {
    return await import('classic-level')
  } catch (cause) {
    throw createMissingPackageError(directory, 'LevelDB', 'classic-level', cause)
  }
}

/** Checks the format, and writes it into a new database. ENOTSUP for another format or program. */
async function assertOwnFormat(db: LevelDatabase, directory: string): Promise<void> {
  const found = db.getSync(FORMAT_KEY)
  if (found !== undefined) {
    assertFormat(directory, decodeNumberAt(found, 0), FIRST_FORMAT)
    return
  }
  const keys = await db.keys({ limit: 1 }).all()
  if (keys.length > 0) throw createForeignStoreError(directory, 'a LevelDB database', [])
  await db.batch([createPut(FORMAT_KEY, encodeIdKey(FIRST_FORMAT))], WRITE_OPTIONS)
}

function toOpenError(directory: string, error: unknown): VfsError {
  if (error instanceof VfsError) return error
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED') {
    return createAlreadyOpenError(directory, cause)
  }
  const detail = `the store could not be opened: ${getErrorMessage(cause)}`
  return new VfsError('EIO', directory, { op: 'open', detail, cause })
}

function createAlreadyOpenError(directory: string, cause?: Error): VfsError {
  const where = cause === undefined ? 'in this process' : 'in another process'
  const detail = `the store is open ${where}, and LevelDB allows one process at a time; close it there first`
  return new VfsError('EUNAVAILABLE', directory, { op: 'open', detail, cause })
}
