import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Home } from '../../src/backends/vault/index.ts'
import {
  type Durability,
  type Engine,
  type Freshness,
  LevelEngine,
  LmdbEngine,
  PostgresEngine,
  SqliteEngine,
  StoreHome,
} from '../../src/store/index.ts'

/** Engines that several processes may have open at once. */
export const sharedEngineNames = ['sqlite', 'lmdb'] as const
/** Engines that keep a home on disk. */
export const engineNames: readonly EngineName[] = [...sharedEngineNames, 'level']
export type EngineName = (typeof sharedEngineNames)[number] | 'level'
export type PlaceEngine = EngineName | 'postgres'

/** Everything that may lie in the directory of a home; anything else is junk somebody left behind. */
const HOME_FILES =
  /^(?:home\.json|store\.(db(-wal|-shm|-reserve|-(sessions|segments)(\/.*)?)?|lmdb(\/((data|lock)\.mdb|reserve|(sessions|segments|open)(\/.*)?))?|level(\/(CURRENT|LOCK|reserve|closed|LOG(\.old)?|MANIFEST-\d+|\d+\.(ldb|log)))?))$/

export interface Place {
  /** A directory, or the URL of a database. */
  readonly path: string
  readonly engine: PlaceEngine
  readonly durability?: Durability
  /** Of a database; `notified` when absent, as for users. */
  readonly freshness?: Freshness
}

/** A home and the engine below it, for what a home does not offer: to leave it without a fold, as a crash would. */
export interface OpenPlace {
  readonly home: Home
  readonly engine: Engine
}

export async function openPlace(place: Place): Promise<OpenPlace> {
  if (place.engine !== 'postgres') mkdirSync(place.path, { recursive: true })
  const engine = await openEngine(place)
  return { home: new Home(new StoreHome(engine)), engine }
}

async function openEngine({
  path,
  engine,
  durability = 'process',
  freshness = 'notified',
}: Place): Promise<Engine> {
  if (engine === 'lmdb') return LmdbEngine.open({ directory: join(path, 'store.lmdb'), durability })
  if (engine === 'postgres') return PostgresEngine.open({ url: path, durability, freshness })
  if (engine === 'level') return LevelEngine.open({ directory: join(path, 'store.level') })
  return new SqliteEngine({ file: join(path, 'store.db'), durability })
}

/** Files in the directory of a home that do not belong there. */
export function junkIn(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) => !HOME_FILES.test(file))
}
