import { chmodSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Engine } from '../engine.ts'
import { findLevelDamage, isManifestDamaged } from './level-check.ts'
import { repairLevelDatabase } from './level-database.ts'
import { LevelEngine } from './level-engine.ts'
import { LmdbEngine } from './lmdb-engine.ts'
import { createPrivateCopy, type PrivateCopy } from './private-copy.ts'
import { ReadOnlyEngine } from './read-only-engine.ts'
import { SqliteEngine } from './sqlite-engine.ts'

const PRIVATE_FILE_MODE = 0o600
/** What SQLite, and a writer that was killed, leave beside a database with changes that it does not have yet. */
const SQLITE_LOG_SUFFIXES = ['-wal', '-journal', '-spool']

/** A store on disk that cannot be written. */
export interface ReadOnlyStore {
  readonly engine: 'sqlite' | 'lmdb' | 'level'
  /** Its file or directory. */
  readonly place: string
  /** The directory of the home, for errors. */
  readonly home: string
}

/**
 * Opens a store where nothing can be written: its disk is read-only, or this user may not write there. What only a
 * writer could bring in order, LevelDB and a SQLite file with a log, is read from a copy that is removed on close.
 */
export async function openReadOnlyEngine({ engine, place, home }: ReadOnlyStore): Promise<Engine> {
  if (engine === 'lmdb') {
    return new ReadOnlyEngine(await LmdbEngine.open({ directory: place, isReadOnly: true }), home)
  }
  if (engine === 'level') {
    return openCopy(
      () => listLevelFiles(place),
      home,
      (directory) => LevelEngine.open({ directory }),
    )
  }
  const logs = SQLITE_LOG_SUFFIXES.map((suffix) => `${place}${suffix}`).filter(hasContent)
  if (logs.length === 0) return new ReadOnlyEngine(new SqliteEngine({ file: place, isImmutable: true }), home)
  const list = () => [place, ...SQLITE_LOG_SUFFIXES.map((suffix) => `${place}${suffix}`).filter(hasContent)]
  return openCopy(list, home, (directory) => new SqliteEngine({ file: join(directory, basename(place)) }))
}

/**
 * Opens what can be read of a LevelDB database that may be damaged, to salvage it: from a copy, since LevelDB drops
 * what it cannot read and removes the files it was in.
 */
export async function openDamagedLevel(place: string, home: string): Promise<Engine> {
  const damage = findLevelDamage(place)
  const open = async (directory: string) => {
    // What it would open by a list that is cut off is an older state.
    if (isManifestDamaged(place)) await repairLevelDatabase(directory)
    try {
      return await LevelEngine.open({ directory, isDamaged: true })
    } catch {
      await repairLevelDatabase(directory)
      return LevelEngine.open({ directory, isDamaged: true })
    }
  }
  return openCopy(() => listLevelFiles(place), home, open, damage)
}

/** The files of a LevelDB database. The reserve holds nothing. */
function listLevelFiles(place: string): string[] {
  const found = readdirSync(place, { withFileTypes: true })
  const files = found.filter((entry) => entry.isFile() && entry.name !== 'reserve')
  return files.map(({ name }) => join(place, name))
}

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

/** A copy has the permissions of its original, which may be that nobody writes. */
function makeWritable({ directory }: PrivateCopy): void {
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), PRIVATE_FILE_MODE)
}

function hasContent(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0
}
