import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createProcessTag, makePrivateFile } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'

/** What each engine keeps its bytes in, in the directory of a home. */
const storeNames = { sqlite: 'store.db', lmdb: 'store.lmdb', level: 'store.level' } as const
/** The file that is there once anything was stored: without it, a store that was lost would pass for a new one. */
const storeFiles = { sqlite: 'store.db', lmdb: 'store.lmdb/data.mdb', level: 'store.level/CURRENT' } as const

export type StoredEngineName = keyof typeof storeNames

const storedEngineNames: readonly StoredEngineName[] = ['sqlite', 'lmdb', 'level']
const RECORD_FILE = 'home.json'

/** The file or directory that a home has its bytes in. */
export function getStorePath(home: string, engine: StoredEngineName = 'sqlite'): string {
  return join(home, storeNames[engine])
}

/** The file without which there is no store. */
export function getStoreFile(home: string, engine: StoredEngineName): string {
  return join(home, storeFiles[engine])
}

/** The engine of a home: the one that is recorded, or whose store is there. Undefined if there is no home yet. */
export function findEngine(home: string): StoredEngineName | undefined {
  const present = listStores(home)
  return readRecordedEngine(home) ?? (present.length === 1 ? present[0] : undefined)
}

/**
 * Decides the engine to open a home with: the one it has, else the one that was asked for, else SQLite.
 * EINVAL if another one was asked for, or if there are two stores and none was. EIO if the store is gone.
 */
export function chooseEngine(home: string, asked: StoredEngineName | undefined): StoredEngineName {
  const found = findEngine(home)
  if (found === undefined) {
    const present = listStores(home)
    if (asked !== undefined || present.length === 0) return asked ?? 'sqlite'
    throw createSeveralStoresError(home, present)
  }
  if (asked !== undefined && asked !== found) throw createOtherEngineError(home, found, asked)
  if (isRecorded(home) && !hasContent(home, found)) throw createLostStoreError(home, found)
  return found
}

/** Records the engine of a home, so that a store which is lost later does not pass for a new one. */
export function recordEngine(home: string, engine: StoredEngineName): void {
  if (isRecorded(home)) return
  const file = join(home, RECORD_FILE)
  const temporary = `${file}.${createProcessTag()}`
  try {
    makePrivateFile(temporary)
    writeFileSync(temporary, `${JSON.stringify({ engine })}\n`, { flush: true })
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Whether the engine of a home is recorded, and with it that there is a store. */
export function isRecorded(home: string): boolean {
  return readRecordedEngine(home) !== undefined
}

function readRecordedEngine(home: string): StoredEngineName | undefined {
  try {
    const { engine }: { engine?: unknown } = JSON.parse(readFileSync(join(home, RECORD_FILE), 'utf8'))
    return storedEngineNames.find((name) => name === engine)
  } catch {
    // A home of before, or a record that is damaged: the store itself says what it is.
    return undefined
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

function createOtherEngineError(home: string, found: StoredEngineName, asked: StoredEngineName): VfsError {
  const has = `the home ${home} is on '${found}' (${storeNames[found]}), and '${asked}' was asked for`
  const next = `leave the engine out or set it to '${found}', here and in config.toml, or take another home and bring vaults there with send and receive`
  return new VfsError('EINVAL', home, { op: 'open', detail: `${has}; ${next}` })
}

function createSeveralStoresError(home: string, present: readonly StoredEngineName[]): VfsError {
  const names = present.map((name) => `${storeNames[name]} of '${name}'`).join(' and ')
  const detail = `the home ${home} has several stores: ${names}; set engine in config.toml to the one that holds your vaults, and move the other away`
  return new VfsError('EINVAL', home, { op: 'open', detail })
}

/** EIO: a home has no store any more, or one with nothing in it. */
export function createLostStoreError(home: string, engine: StoredEngineName): VfsError {
  const place = getStorePath(home, engine)
  const next = `bring it back from a backup, or remove ${join(home, RECORD_FILE)} to begin with an empty one`
  const detail = `the store ${place} was emptied or removed: this home has kept vaults in it; ${next}`
  return new VfsError('EIO', place, { op: 'open', detail })
}
