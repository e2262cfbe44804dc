import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { fileSystemSuite } from '../../src/conformance/index.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'

/** Random programs of the suite: each of their steps is a trip. */
const RUNS = 3

let server: PostgresServer
let home: Home
let vaults = 0

beforeAll(async () => {
  if (!hasPostgres) return
  server = await PostgresServer.start()
  home = await openHome({ url: server.url('conforming') })
})
afterAll(async () => {
  await home?.close()
  await server?.[Symbol.asyncDispose]()
})

fileSystemSuite(
  { describe: (name, body) => describe.runIf(hasPostgres)(name, body), it },
  { name: 'a vault on PostgreSQL', create: () => home.createVault(`vault-${++vaults}`), runs: RUNS },
)
