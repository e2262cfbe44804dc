import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateDirectory } from '../../machine/index.ts'
import {
  type Durability,
  type Engine,
  encodeChecksummedJson,
  type Freshness,
  hideUrlPassword,
  LevelEngine,
  LmdbEngine,
  LmdbFileEngine,
  MemoryEngine,
  openDamagedLevel,
  openReadOnlyEngine,
  PostgresEngine,
  SqliteEngine,
} from '../../store/index.ts'
import { type ErrorCode, isVfsError, VfsError } from '../../vfs/index.ts'
import { openHomeDirectory } from './home-directory.ts'
import {
  chooseEngine,
  createLostStoreError,
  findDatabase,
  getStoreFile,
  getStorePath,
  isRecorded,
  recordDatabase,
  recordEngine,
  type StoredEngineName,
} from './home-engine.ts'
import { formatObjectsUrl, type HomeObjects, openObjects } from './home-objects.ts'
import { hostError } from './transfer/host-fault.ts'

/** The engines of a home. `lmdb` and `level` need the packages `lmdb` and `classic-level`. */
export const engineNames = ['sqlite', 'lmdb', 'level', 'memory'] as const

/** Name of an engine that this package has. */
export type EngineName = (typeof engineNames)[number]

/** The key of the record that every store has from its creation. */
const HOME_KEY = 'home'

/** Options of `openHome`. */
export interface HomeOptions {
  /**
   * The directory of the home, created if it is missing. In memory when absent. With `url`, the directory of this
   * machine's part of that home; later the directory alone opens it.
   */
  readonly path?: string
  /**
   * The database of a home that many machines share: `postgres://user@host/database?schema=name`. Needs the package
   * `pg`. Not together with an engine. Without a path, what needs files of this machine is ENOTSUP.
   */
  readonly url?: string
  /**
   * The engine: the home's own when absent, `sqlite` for a new home, `memory` without a path. A custom engine is closed
   * with the home. EINVAL if the home has another one.
   */
  readonly engine?: EngineName | Engine
  /** `full` when absent for a home in a database, else `process`. */
  readonly durability?: Durability
  /** Delay with which a home in a database shows commits of others; `notified` when absent. */
  readonly freshness?: Freshness
  /**
   * A directory of this machine for pages and content of a home in a database, up to 1 GiB, for all processes of this
   * user. The path when absent; nothing is kept between processes without both.
   */
  readonly cacheDirectory?: string
  /**
   * The S3 bucket for content of more than 1 MiB of a home in a database. The home remembers it, without credentials;
   * it can be set once, and is checked then. Needs the package `@aws-sdk/client-s3`. In the database when absent.
   */
  readonly objects?: HomeObjects
  /** True to throw ENOENT if the directory or database has no home yet, instead of creating it. */
  readonly mustExist?: boolean
  /**
   * Once it aborts, nothing waits longer than some seconds for a database or bucket that does not answer. What answers goes
   * on.
   */
  readonly interruption?: AbortSignal
  /** Open for `salvage`, also a store that is too damaged for its engine. */
  readonly toSalvage?: boolean
}

/** A home on disk, as any process of this machine can open it. */
export interface HomeLocation extends Pick<HomeOptions, 'durability'> {
  readonly path: string
  /** The home's own engine when absent. */
  readonly engine?: StoredEngineName
}

/** An engine, the location of its home, and the permissions that opening it removed. */
export interface OpenedEngine {
  readonly engine: Engine
  /** The options with which another process opens it; undefined if none can. */
  readonly location?: HomeLocation
  /** Paths that other users could read or enter until now. */
  readonly mended: readonly string[]
  /** True if the home is in a database. */
  readonly isShared?: boolean
}

/**
 * Opens the engine of a home, and creates a missing store. EINVAL for options that do not fit the home, EIO for a store that
 * is lost or damaged, EACCES or EROFS for one that this user may not use.
 */
export async function openEngine(options: HomeOptions): Promise<OpenedEngine> {
  const { path, engine, durability, toSalvage } = options
  if (path !== undefined) assertHomePath(path)
  const url = options.url ?? (path === undefined ? undefined : findDatabase(path))
  if (url !== undefined) return openDatabase(url, options)
  if (typeof engine === 'object') return { engine, mended: [] }
  if (engine !== undefined && !engineNames.includes(engine)) {
    const detail = `there is no engine '${engine}'; use one of ${engineNames.join(', ')}`
    throw new VfsError('EINVAL', path ?? '/', { op: 'open', detail })
  }
  if (engine === 'memory' || (path === undefined && engine === undefined)) {
    return { engine: new MemoryEngine(), mended: [] }
  }
  if (path === undefined) {
    throw new VfsError('EINVAL', '/', { op: 'open', detail: `the engine '${engine}' needs a path; set path` })
  }
  const mended = openDirectory(path, engine, options.mustExist)
  const chosen = chooseEngine(path, engine)
  const location = { path, engine: chosen, ...(durability !== undefined && { durability }) }
  if (toSalvage === true && chosen === 'lmdb') {
    return { engine: new LmdbFileEngine({ directory: getStorePath(path, chosen) }), location, mended }
  }
  if (toSalvage === true && chosen === 'level') {
    return { engine: await openDamagedLevel(getStorePath(path, chosen), path), location, mended }
  }
  return { engine: await openStore(location), location, mended }
}

/** Throws EINVAL unless the path names a directory: an empty one would make a home of the current directory. */
function assertHomePath(path: unknown): void {
  if (typeof path === 'string' && path !== '') return
  const detail = 'the path of a home is a string that is not empty; omit path for a home in memory'
  throw new VfsError('EINVAL', '/', { op: 'open', detail })
}

/** Opens or creates the directory of a home, and returns the permissions that it removed. */
function openDirectory(path: string, engine: StoredEngineName | undefined, mustExist = false): string[] {
  if (mustExist && !existsSync(getStoreFile(path, chooseEngine(path, engine)))) {
    const detail = `there is no home in ${path}; name another directory, or omit mustExist to create one`
    throw new VfsError('ENOENT', path, { op: 'open', detail })
  }
  try {
    return openHomeDirectory(path)
  } catch (error) {
    throw hostError(error, path, 'open')
  }
}

async function openDatabase(url: string, options: HomeOptions): Promise<OpenedEngine> {
  const { path, durability, freshness, cacheDirectory = path, objects, interruption } = options
  // A directory alone names a home that was there before.
  const { mustExist = options.url === undefined } = options
  if (options.engine !== undefined) {
    const detail = 'a home in a database has no other engine; omit engine'
    throw new VfsError('EINVAL', path ?? '/', { op: 'open', detail })
  }
  if (path !== undefined) makePrivateDirectory(path)
  const engine = await PostgresEngine.open({
    url,
    mustExist,
    ...(objects !== undefined && { objects: formatObjectsUrl(objects) }),
    claimObjects: objects?.claim === true,
    openObjects: (recorded, readOnlyReason) =>
      openObjects(recorded, objects?.client, { readOnlyReason, interruption }),
    ...(interruption !== undefined && { interruption }),
    ...(durability !== undefined && { durability }),
    ...(freshness !== undefined && { freshness }),
    ...(cacheDirectory !== undefined && { cacheDirectory }),
  })
  if (path !== undefined) recordDatabase(path, hideUrlPassword(url))
  return { engine, mended: [], isShared: true }
}

async function openStore(location: StoreLocation): Promise<Engine> {
  const { path, engine: name, durability = 'process' } = location
  const storePath = getStorePath(path, name)
  try {
    if (isReadOnly(location))
      return await openReadOnlyEngine({ engine: name, directory: storePath, home: path })
    const engine = await engineFactories[name](storePath, durability)
    try {
      await assertStoreKept(engine, location)
    } catch (error) {
      await engine.close()
      throw error
    }
    return engine
  } catch (error) {
    throw isVfsError(error) ? error : createOpenError(storePath, error)
  }
}

const engineFactories: Readonly<
  Record<StoredEngineName, (path: string, durability: Durability) => Engine | Promise<Engine>>
> = {
  sqlite: (file, durability) => new SqliteEngine({ file, durability }),
  lmdb: (directory, durability) => LmdbEngine.open({ directory, durability }),
  level: (directory) => LevelEngine.open({ directory }),
}

interface StoreLocation extends HomeLocation {
  readonly engine: StoredEngineName
}

/** Writes the creation record into a new store and records it in the home. Throws EIO if a recorded store is empty. */
async function assertStoreKept(engine: Engine, { path, engine: name }: StoreLocation): Promise<void> {
  if (isRecorded(path)) {
    if (await isEmpty(engine)) throw createLostStoreError(path, name)
    return
  }
  try {
    const creation = { key: HOME_KEY, bytes: encodeChecksummedJson({ created: Date.now() }) }
    const isNew = (await engine.readRecord(HOME_KEY)) === undefined
    // Durable before the home's record: otherwise a crash would make the empty store look lost.
    if (isNew) {
      await engine.commit({ expect: [{ key: HOME_KEY, bytes: null }], records: [creation], durable: true })
    }
    recordEngine(path, name)
  } catch {
    // The disk is full or the home is read-only: the next process that opens it records it.
  }
}

/** Reports whether a store has no records; false if it cannot be read. */
async function isEmpty(engine: Engine): Promise<boolean> {
  try {
    if ((await engine.readRecord(HOME_KEY)) !== undefined) return false
    return (await engine.listRecords('')).length === 0
  } catch {
    return false
  }
}

/** Reports whether this user can read the store but not write it or its directory. */
function isReadOnly({ path, engine }: StoreLocation): boolean {
  const file = getStoreFile(path, engine)
  if (!isReadable(file)) return false
  for (const part of [path, getStorePath(path, engine), file]) {
    if (findWriteRefusal(part) !== undefined) return true
  }
  return false
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Returns the error for a store that cannot be opened. The engines' messages have no path and hide missing write
 * permission.
 */
function createOpenError(path: string, cause: unknown): VfsError {
  const code = findWriteRefusal(dirname(path)) ?? findWriteRefusal(path) ?? 'EIO'
  const next = code === 'EIO' ? '' : '; the directory is not writable'
  const reason = cause instanceof Error ? cause.message : String(cause)
  const detail = `the store ${path} cannot be opened: ${reason}${next}`
  return new VfsError(code, path, { op: 'open', detail, cause })
}

/** Returns the code if this user may not write to a path. */
function findWriteRefusal(path: string): ErrorCode | undefined {
  try {
    accessSync(path, constants.W_OK)
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'EROFS' || code === 'EACCES' ? code : undefined
  }
}
