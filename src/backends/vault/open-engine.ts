import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import {
  type Durability,
  type Engine,
  encodeChecksummedJson,
  LevelEngine,
  LmdbEngine,
  LmdbFileEngine,
  MemoryEngine,
  openDamagedLevel,
  openReadOnlyEngine,
  SqliteEngine,
} from '../../store/index.ts'
import { type ErrorCode, isVfsError, VfsError } from '../../vfs/index.ts'
import { openHomeDirectory } from './home-directory.ts'
import {
  chooseEngine,
  createLostStoreError,
  getStoreFile,
  getStorePath,
  isRecorded,
  recordEngine,
  type StoredEngineName,
} from './home-engine.ts'

/** What can keep a home's bytes. `lmdb` and `level` need a package: `lmdb`, `classic-level`. */
export const engineNames = ['sqlite', 'lmdb', 'level', 'memory'] as const

export type EngineName = (typeof engineNames)[number]

/** A record that every store has from its first moment on. */
const HOME_KEY = 'home'

export interface HomeOptions {
  /** The directory of the home; made if it is missing. In memory when absent. */
  readonly path?: string
  /**
   * The one the home has when absent, `sqlite` for a new one, `memory` without a path; or an engine of your own, which
   * the home then closes. EINVAL for another one than the home has.
   */
  readonly engine?: EngineName | Engine
  readonly durability?: Durability
  /** It is opened for `salvage` alone, and nothing is changed: a store that is too damaged for its engine opens, too. */
  readonly toSalvage?: boolean
}

/** A home on disk, as any process of this machine can open it. */
export interface HomeLocation extends Pick<HomeOptions, 'durability'> {
  readonly path: string
  /** The one the home has when absent. */
  readonly engine?: StoredEngineName
}

/** An engine, where its home is, and what opening the directory changed there. */
export interface OpenedEngine {
  readonly engine: Engine
  /** How another process opens it; undefined if none can. */
  readonly place?: HomeLocation
  /** What other users of this machine could read or enter until now. */
  readonly mended: readonly string[]
}

export async function openEngine({
  path,
  engine,
  durability,
  toSalvage,
}: HomeOptions): Promise<OpenedEngine> {
  if (typeof engine === 'object') return { engine, mended: [] }
  if (engine !== undefined && !engineNames.includes(engine)) {
    const detail = `there is no engine '${engine}'; known: ${engineNames.join(', ')}`
    throw new VfsError('EINVAL', path ?? '/', { op: 'open', detail })
  }
  if (engine === 'memory' || (path === undefined && engine === undefined)) {
    return { engine: new MemoryEngine(), mended: [] }
  }
  if (path === undefined) {
    throw new VfsError('EINVAL', '/', { op: 'open', detail: `the engine '${engine}' needs a path` })
  }
  const mended = openHomeDirectory(path)
  const chosen = chooseEngine(path, engine)
  const place = { path, engine: chosen, ...(durability !== undefined && { durability }) }
  if (toSalvage === true && chosen === 'lmdb') {
    return { engine: new LmdbFileEngine({ directory: getStorePath(path, chosen) }), place, mended }
  }
  if (toSalvage === true && chosen === 'level') {
    return { engine: await openDamagedLevel(getStorePath(path, chosen), path), place, mended }
  }
  return { engine: await openStore(place), place, mended }
}

async function openStore(place: StoreLocation): Promise<Engine> {
  const { path, engine: name, durability = 'process' } = place
  const at = getStorePath(path, name)
  try {
    if (await isReadOnly(place)) return await openReadOnlyEngine({ engine: name, place: at, home: path })
    const engine = await engineFactories[name](at, durability)
    try {
      await assertStoreKept(engine, place)
    } catch (error) {
      await engine.close()
      throw error
    }
    return engine
  } catch (error) {
    throw isVfsError(error) ? error : await createOpenError(at, error)
  }
}

const engineFactories: Readonly<
  Record<StoredEngineName, (place: string, durability: Durability) => Engine | Promise<Engine>>
> = {
  sqlite: (file, durability) => new SqliteEngine({ file, durability }),
  lmdb: (directory, durability) => LmdbEngine.open({ directory, durability }),
  level: (directory) => LevelEngine.open({ directory }),
}

interface StoreLocation extends HomeLocation {
  readonly engine: StoredEngineName
}

/** Marks a store as one that was made, and its home as one that has it. EIO if it had a store that is empty now. */
async function assertStoreKept(engine: Engine, { path, engine: name }: StoreLocation): Promise<void> {
  if (isRecorded(path)) {
    if (await isEmpty(engine)) throw createLostStoreError(path, name)
    return
  }
  try {
    const born = { key: HOME_KEY, bytes: encodeChecksummedJson({ created: Date.now() }) }
    const isNew = (await engine.readRecord(HOME_KEY)) === undefined
    // On disk before the record beside it: that one alone would make an empty store of a lost one.
    if (isNew) {
      await engine.commit({ expect: [{ key: HOME_KEY, bytes: null }], records: [born], durable: true })
    }
    recordEngine(path, name)
  } catch {
    // The disk is full, or the home can only be read: the next one to open it records it.
  }
}

/** Whether nothing was ever kept in a store; false if that cannot be read. */
async function isEmpty(engine: Engine): Promise<boolean> {
  try {
    if ((await engine.readRecord(HOME_KEY)) !== undefined) return false
    return (await engine.listRecords('')).length === 0
  } catch {
    return false
  }
}

/** Whether there is a store that this user can only read, in a directory where nothing can be made, or itself. */
async function isReadOnly({ path, engine }: StoreLocation): Promise<boolean> {
  const file = getStoreFile(path, engine)
  if (!(await isReadable(file))) return false
  for (const place of [path, getStorePath(path, engine), file]) {
    if ((await findWriteRefusal(place)) !== undefined) return true
  }
  return false
}

async function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  )
}

/** Why a store cannot be opened. What the engines say names no file, and hides that they could not write. */
async function createOpenError(place: string, cause: unknown): Promise<VfsError> {
  const code = (await findWriteRefusal(dirname(place))) ?? (await findWriteRefusal(place)) ?? 'EIO'
  const next = code === 'EIO' ? '' : '; it cannot be made there'
  const said = cause instanceof Error ? cause.message : String(cause)
  const detail = `the store ${place} cannot be opened: ${said}${next}`
  return new VfsError(code, place, { op: 'open', detail, cause })
}

/** Why this user may not write to something; undefined if that is not it. */
async function findWriteRefusal(path: string): Promise<ErrorCode | undefined> {
  try {
    await access(path, constants.W_OK)
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'EROFS' || code === 'EACCES' ? code : undefined
  }
}
