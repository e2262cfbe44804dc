import { realpathSync } from 'node:fs'
import type { ClassicLevel } from 'classic-level'
import { makeFilesPrivate, makePrivateDirectory } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { decodeNumberAt, encodeIdKey } from './binary-keys.ts'
import {
  assertFormat,
  createDamagedStoreError,
  createForeignStoreError,
  createMissingPackageError,
  getErrorMessage,
} from './engine-errors.ts'
import { assertLevelIntact, findLevelDamage, recordClosedSizes } from './level-check.ts'
import { createPut, FORMAT_KEY } from './level-rows.ts'

const FORMAT_VERSION = 1

/**
 * Every batch is on disk before it is acknowledged, whatever the durability asked for. Without that, LevelDB's recovery
 * after a power cut skips what is missing in the middle of its log and goes on behind it, and a log that is full is
 * left for the next without a sync: a later commit may be there while an earlier one is not, and the home is torn.
 */
export const WRITE_OPTIONS = { sync: true }

export type LevelDatabase = ClassicLevel<Uint8Array, Uint8Array>

/**
 * Places this process has open. LevelDB must never be asked for one of them again: it would refuse, but by looking it
 * closes the lock's file once, and so gives up the lock of the process that keeps all others out.
 */
const openDirectories = new Set<string>()

/**
 * ENOTSUP, EUNAVAILABLE or EIO if it does not open, or is not ours.
 * @param isDamaged opens what is known to be damaged, if LevelDB does: it drops what it cannot read.
 */
export async function openLevelDatabase(directory: string, isDamaged = false): Promise<LevelDatabase> {
  const { ClassicLevel } = await loadLevel(directory)
  const place = resolveDirectory(directory)
  if (openDirectories.has(place)) throw createAlreadyOpenError(directory)
  if (!isDamaged) assertLevelIntact(place)
  openDirectories.add(place)
  const db: LevelDatabase = new ClassicLevel(place, { keyEncoding: 'view', valueEncoding: 'view' })
  try {
    await db.open()
    await assertOwnFormat(db, directory)
    trySettleFiles(place)
    db.once('closed', () => {
      openDirectories.delete(place)
      recordClose(place)
    })
    return db
  } catch (error) {
    await db.close()
    openDirectories.delete(place)
    const failure = toOpenError(directory, error)
    // A block that cannot be read may look like a database of another program, or of a later version.
    const [damage] = isDamaged || failure.code === 'EUNAVAILABLE' ? [] : findLevelDamage(place)
    throw damage === undefined ? failure : createDamagedStoreError(directory, damage)
  }
}

/** Has LevelDB make a new list of files for tables and logs that have lost theirs. */
export async function repairLevelDatabase(directory: string): Promise<void> {
  const { ClassicLevel } = await loadLevel(directory)
  await ClassicLevel.repair(directory)
}

function recordClose(place: string): void {
  try {
    recordClosedSizes(place)
  } catch {
    // The directory was removed, or its disk is full: the next open misses what is cut off at the end of a log.
  }
  trySettleFiles(place)
}

/** LevelDB gives its files permissions and an owner of its own choice; the directory is closed to others meanwhile. */
function trySettleFiles(place: string): void {
  try {
    makeFilesPrivate(place)
  } catch {
    // The directory was removed while it was open.
  }
}

/** The one name of a directory, which is made if it is not there. */
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

async function assertOwnFormat(db: LevelDatabase, directory: string): Promise<void> {
  const found = db.getSync(FORMAT_KEY)
  if (found !== undefined) {
    assertFormat(directory, decodeNumberAt(found, 0), FORMAT_VERSION)
    return
  }
  const keys = await db.keys({ limit: 1 }).all()
  if (keys.length > 0) throw createForeignStoreError(directory, 'a LevelDB database', [])
  await db.batch([createPut(FORMAT_KEY, encodeIdKey(FORMAT_VERSION))], WRITE_OPTIONS)
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
  const detail = `the store is open ${where}, and LevelDB lets in one at a time; close it there first`
  return new VfsError('EUNAVAILABLE', directory, { op: 'open', detail, cause })
}
