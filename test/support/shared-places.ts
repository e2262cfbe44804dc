import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Place, type PlaceEngine, sharedEngineNames } from './engines.ts'
import { hasPostgres, PostgresServer } from './postgres-server.ts'

/** Engines that several processes may have open at once, on this machine or through a network. */
export const everySharedEngine: readonly PlaceEngine[] = hasPostgres
  ? [...sharedEngineNames, 'postgres']
  : sharedEngineNames

/** Starts a database for the tests of a file. Returns what makes a new place below a directory, on any engine. */
export function useSharedPlaces(): (engine: PlaceEngine, directory: string) => Place {
  let server: PostgresServer | undefined
  let places = 0
  beforeAll(async () => {
    if (hasPostgres) server = await PostgresServer.start()
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  return (engine, directory) => ({
    path: engine === 'postgres' ? (server?.url(`home_${++places}`) ?? '') : join(directory, engine),
    engine,
  })
}
