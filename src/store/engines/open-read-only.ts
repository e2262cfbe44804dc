import { chmodSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { PRIVATE_FILE_MODE } from '../../machine/index.ts'
import type { Engine } from '../engine.ts'
import { SIDE_LOG_NAME } from '../group-commit/side-log.ts'
import { findLevelDamage, isManifestDamaged } from './level/level-check.ts'
import { repairLevelDatabase } from './level/level-database.ts'
import { LevelEngine } from './level/level-engine.ts'
import { LmdbEngine } from './lmdb/lmdb-engine.ts'
import { createPrivateCopy, type PrivateCopy } from './private-copy.ts'
import { ReadOnlyEngine } from './read-only-engine.ts'
import { SqliteEngine } from './sqlite/sqlite-engine.ts'

/** Suffixes of files with changes that the database does not have yet: SQLite's logs and a killed writer's side log. */
const SQLITE_LOG_SUFFIXES = ['-wal', '-journal', `-${SIDE_LOG_NAME}`]

/** A store on a disk or in a directory that this process cannot write. */
export interface ReadOnlyStore {
  readonly engine: 'sqlite' | 'lmdb' | 'level'
  /** Path of its file or directory. */
  readonly directory: string
  /** The directory of the home, for errors. */
  readonly home: string
}

/**
 * Opens a store that cannot be written: its disk is read-only, or this user lacks permission. LevelDB and SQLite with
 * a log need a writer for recovery: they open a temporary copy, which is removed on close.
 */
export async function openReadOnlyEngine({
  engine,
  directory: storePath,
  home,
}: ReadOnlyStore): Promise<Engine> {
  if (engine === 'lmdb') {
    return new ReadOnlyEngine(await LmdbEngine.open({ directory: storePath, isReadOnly: true }), home)
  }
  if (engine === 'level') {
    return openCopy(
      () => listLevelFiles(storePath),
      home,
      (directory) => LevelEngine.open({ directory }),
    )
  }
  const listLogs = () => SQLITE_LOG_SUFFIXES.map((suffix) => `${storePath}${suffix}`).filter(hasContent)
  if (listLogs().length === 0)
    return new ReadOnlyEngine(new SqliteEngine({ file: storePath, isImmutable: true }), home)
  return openCopy(
    () => [storePath, ...listLogs()],
    home,
    (directory) =>
      new SqliteEngine({ file: join(directory, basename(storePath)), segments: `${storePath}-segments` }),
  )
}

/**
 * Opens a damaged LevelDB database for salvage, from a copy: LevelDB drops what it cannot read and removes those
 * files.
 */
export async function openDamagedLevel(storePath: string, home: string): Promise<Engine> {
  const damage = findLevelDamage(storePath)
  const open = async (directory: string) => {
    // A truncated manifest would open an older state.
    if (isManifestDamaged(storePath)) await repairLevelDatabase(directory)
    try {
      return await LevelEngine.open({ directory, isDamaged: true })
    } catch {
      await repairLevelDatabase(directory)
      return LevelEngine.open({ directory, isDamaged: true })
    }
  }
  return openCopy(() => listLevelFiles(storePath), home, open, damage)
}

/** Lists the files of a LevelDB database, without the reserve. */
function listLevelFiles(directory: string): string[] {
  const found = readdirSync(directory, { withFileTypes: true })
  const files = found.filter((entry) => entry.isFile() && entry.name !== 'reserve')
  return files.map(({ name }) => join(directory, name))
}

/** Opens a copy of some files for reading, which is removed on close. */
async function openCopy(
  list: () => readonly string[],
  home: string,
  open: (directory: string) => Engine | Promise<Engine>,
  damage: readonly string[] = [],
): Promise<Engine> {
  const copy = createPrivateCopy(list)
  try {
    makeWritable(copy)
    return new ReadOnlyEngine(await open(copy.directory), home, { onClose: copy.remove, damage })
  } catch (error) {
    copy.remove()
    throw error
  }
}

/** Makes the copy writable: it has the permissions of its original. */
function makeWritable({ directory }: PrivateCopy): void {
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), PRIVATE_FILE_MODE)
}

function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}
