import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createProcessTag, makePrivateFile } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'

/** The file or directory of each engine, below the home. */
const storeNames = { sqlite: 'store.db', lmdb: 'store.lmdb', level: 'store.level' } as const
/** The file that exists once anything is stored. If it is missing, the store was lost, not new. */
const storeFiles = { sqlite: 'store.db', lmdb: 'store.lmdb/data.mdb', level: 'store.level/CURRENT' } as const

/** Name of an engine that stores a home on disk. */
export type StoredEngineName = keyof typeof storeNames

const storedEngineNames: readonly StoredEngineName[] = ['sqlite', 'lmdb', 'level']
const RECORD_FILE = 'home.json'
/** Engine in the record of a directory that belongs to a home in a database. */
const DATABASE_ENGINE = 'postgres'

/** Returns the file or directory of a home's store. */
export function getStorePath(home: string, engine: StoredEngineName = 'sqlite'): string {
  return join(home, storeNames[engine])
}

/** Returns the file without which there is no store. */
export function getStoreFile(home: string, engine: StoredEngineName): string {
  return join(home, storeFiles[engine])
}

/** Returns the recorded engine of a home, or the engine of its only store; undefined if there is no home yet. */
export function findEngine(home: string): StoredEngineName | undefined {
  const present = listStores(home)
  return readRecordedEngine(home) ?? (present.length === 1 ? present[0] : undefined)
}

/**
 * Returns the engine to open a home with: its own, else the requested one, else SQLite. Throws EINVAL if another one
 * was requested, or if there are two stores and none was. Throws EIO if the store is missing.
 */
export function chooseEngine(home: string, requested: StoredEngineName | undefined): StoredEngineName {
  const found = findEngine(home)
  if (found === undefined) {
    const present = listStores(home)
    if (requested !== undefined || present.length === 0) return requested ?? 'sqlite'
    throw createSeveralStoresError(home, present)
  }
  if (requested !== undefined && requested !== found) throw createOtherEngineError(home, found, requested)
  if (isRecorded(home) && !hasContent(home, found)) throw createLostStoreError(home, found)
  return found
}

/** Records the engine of a home, so that a store lost later is not taken for a new one. */
export function recordEngine(home: string, engine: StoredEngineName): void {
  if (!isRecorded(home)) writeRecord(home, { engine })
}

function writeRecord(home: string, record: Readonly<Record<string, string>>): void {
  const file = join(home, RECORD_FILE)
  const temporary = `${file}.${createProcessTag()}`
  try {
    makePrivateFile(temporary)
    writeFileSync(temporary, `${JSON.stringify(record)}\n`, { flush: true })
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Records that a directory has this machine's part of a home in a database. The URL has no password. */
export function recordDatabase(directory: string, url: string): void {
  if (findDatabase(directory) !== url) writeRecord(directory, { engine: DATABASE_ENGINE, url })
}

/** Returns the URL of the home in a database that a directory is this machine's part of; undefined for other homes. */
export function findDatabase(directory: string): string | undefined {
  const { engine, url } = readHomeRecord(directory)
  return engine === DATABASE_ENGINE && typeof url === 'string' ? url : undefined
}

/** Reports whether the engine of a home is recorded, which means that it has a store. */
export function isRecorded(home: string): boolean {
  return readRecordedEngine(home) !== undefined
}

function readRecordedEngine(home: string): StoredEngineName | undefined {
  const { engine } = readHomeRecord(home)
  return storedEngineNames.find((name) => name === engine)
}

function readHomeRecord(home: string): { readonly engine?: unknown; readonly url?: unknown } {
  try {
    return JSON.parse(readFileSync(join(home, RECORD_FILE), 'utf8'))
  } catch {
    // An older home, or a damaged record: the store itself shows its engine.
    return {}
  }
}

function listStores(home: string): StoredEngineName[] {
  return storedEngineNames.filter(
    (name) => statSync(join(home, storeNames[name]), { throwIfNoEntry: false }) !== undefined,
  )
}

function hasContent(home: string, engine: StoredEngineName): boolean {
  return (statSync(getStoreFile(home, engine), { throwIfNoEntry: false })?.size ?? 0) > 0
}

function createOtherEngineError(
  home: string,
  found: StoredEngineName,
  requested: StoredEngineName,
): VfsError {
  const has = `the home ${home} is on '${found}' (${storeNames[found]}), not on '${requested}'`
  const next = `omit the engine or set it to '${found}', here and in config.toml, or move vaults to another home with send and receive`
  return new VfsError('EINVAL', home, { op: 'open', detail: `${has}; ${next}` })
}

function createSeveralStoresError(home: string, present: readonly StoredEngineName[]): VfsError {
  const names = present.map((name) => `${storeNames[name]} of '${name}'`).join(' and ')
  const detail = `the home ${home} has several stores: ${names}; set engine in config.toml to the one with your vaults and move the other file away`
  return new VfsError('EINVAL', home, { op: 'open', detail })
}

/** Returns the EIO error for a home whose store is missing or empty. */
export function createLostStoreError(home: string, engine: StoredEngineName): VfsError {
  const storePath = getStorePath(home, engine)
  const next = `restore it from a backup, or remove ${join(home, RECORD_FILE)} to start with an empty one`
  const detail = `the store ${storePath} is missing or empty, though this home had vaults in it; ${next}`
  return new VfsError('EIO', storePath, { op: 'open', detail })
}
