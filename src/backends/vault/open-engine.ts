import { access, constants } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Durability,
  type Engine,
  LevelEngine,
  LmdbEngine,
  MemoryEngine,
  SqliteEngine,
} from '../../store/index.ts'
import { type ErrorCode, isVfsError, VfsError } from '../../vfs/index.ts'
import { openHomeDirectory } from './home-directory.ts'

/** What can keep a home's bytes. `lmdb` and `level` need a package: `lmdb`, `classic-level`. */
export const engineNames = ['sqlite', 'lmdb', 'level', 'memory'] as const

export type EngineName = (typeof engineNames)[number]

export interface HomeOptions {
  /** The directory of the home; made if it is missing. In memory when absent. */
  readonly path?: string
  /** `sqlite` when absent, or `memory` without a path; or an engine of your own, which the home then closes. */
  readonly engine?: EngineName | Engine
  readonly durability?: Durability
}

/** A home on disk, as any process of this machine can open it. */
export interface HomePlace extends Pick<HomeOptions, 'durability'> {
  readonly path: string
  readonly engine?: EngineName
}

/** An engine, and what opening the directory of its home changed there. */
export interface OpenedEngine {
  readonly engine: Engine
  /** What other users of this machine could read or enter until now. */
  readonly mended: readonly string[]
}

export async function openEngine({
  path,
  engine,
  durability = 'process',
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
  const place = storePlace(path, engine)
  try {
    return { engine: await openStore(place, engine, durability), mended }
  } catch (error) {
    throw isVfsError(error) ? error : await unopened(place, error)
  }
}

/** What each engine keeps its bytes in, in the directory of a home. */
const storeNames = { sqlite: 'store.db', lmdb: 'store.lmdb', level: 'store.level' } as const

/** The file or directory that a home has its bytes in. */
export function storePlace(home: string, engine: keyof typeof storeNames = 'sqlite'): string {
  return join(home, storeNames[engine])
}

async function openStore(
  place: string,
  engine: EngineName | undefined,
  durability: Durability,
): Promise<Engine> {
  if (engine === 'lmdb') return LmdbEngine.open({ directory: place, durability })
  if (engine === 'level') return LevelEngine.open({ directory: place })
  return new SqliteEngine({ file: place, durability })
}

/** Why a store cannot be opened. What the engines say names no file, and hides that they could not write. */
async function unopened(place: string, cause: unknown): Promise<VfsError> {
  const code = (await refusedWrite(dirname(place))) ?? (await refusedWrite(place)) ?? 'EIO'
  const next = code === 'EIO' ? '' : '; it has to be writable, even to be read'
  const said = cause instanceof Error ? cause.message : String(cause)
  const detail = `the store ${place} cannot be opened: ${said}${next}`
  return new VfsError(code, place, { op: 'open', detail, cause })
}

/** Why this user may not write to something; undefined if that is not it. */
async function refusedWrite(path: string): Promise<ErrorCode | undefined> {
  try {
    await access(path, constants.W_OK)
    return undefined
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'EROFS' || code === 'EACCES' ? code : undefined
  }
}
