import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { isVfsError, readText } from '../../src/vfs/index.ts'
import { type Fault, FaultProxy, faults } from '../support/fault-proxy.ts'
import { hasPostgres, PostgresServer } from '../support/postgres-server.ts'
import { scaled } from '../support/scale.ts'

const SCHEMA = 'faulty'
/** Statements of an act that are cut, from the first on. */
const MOST_STATEMENTS = scaled(8, 40)

let server: PostgresServer
let proxy: FaultProxy
let healthy: Home

beforeAll(async () => {
  if (!hasPostgres) return
  server = await PostgresServer.start()
  proxy = await FaultProxy.start(server.directory)
  healthy = await openHome({ url: server.url(SCHEMA), freshness: 'strict' })
  const base = await healthy.createVault('base')
  await base.write('/log', '')
})
afterAll(async () => {
  await healthy?.close()
  await proxy?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

/** Something that is done in one call, and how to see how often it was. Each has a name of its own. */
interface Act {
  readonly prepare?: (home: Home, name: string) => Promise<unknown>
  readonly run: (home: Home, name: string) => Promise<unknown>
  readonly count: (home: Home, name: string) => Promise<number>
}

const base = (home: Home) => home.vault('base')
const has = async (home: Home, name: string) => Number((await home.vaults()).includes(name))

const acts: Readonly<Record<string, Act>> = {
  append: {
    run: async (home, name) => (await base(home)).append('/log', `${name}\n`),
    count: async (home, name) =>
      (await readText(await base(home), '/log')).split('\n').filter((line) => line === name).length,
  },
  fork: { run: (home, name) => home.fork('base', name), count: has },
  checkpoint: {
    run: async (home, name) => (await base(home)).checkpoint(undefined, { description: name }),
    count: async (home, name) =>
      (await (await base(home)).checkpoints()).filter(({ description }) => description === name).length,
  },
  merge: {
    prepare: async (home, name) => (await home.fork('base', name)).write(`/${name}`, 'x'),
    run: (home, name) => home.merge(name, 'base'),
    count: async (home, name) =>
      (await Array.fromAsync((await base(home)).journal({ path: `/${name}` }))).length,
  },
  'a large write': {
    run: async (home, name) => (await base(home)).write(`/${name}`, Buffer.alloc(2_000_000, name)),
    count: async (home, name) =>
      (await Array.fromAsync((await base(home)).journal({ path: `/${name}` }))).length,
  },
}

function openThroughProxy(): Promise<Home> {
  const url = new URL('postgres://coppice@no-host.invalid/postgres')
  url.searchParams.set('schema', SCHEMA)
  url.searchParams.set('host', proxy.directory)
  return openHome({ url: url.href.replace('no-host.invalid', ''), freshness: 'strict' })
}

/** Runs an act with the connection of one of its statements cut; undefined if it has not so many. */
async function runWithFault(
  act: Act,
  name: string,
  fault: Fault,
  at: number,
): Promise<{ outcome: string; truth: number } | undefined> {
  await act.prepare?.(healthy, name)
  proxy.next = () => undefined
  await using home = await openThroughProxy()
  let statements = 0
  proxy.next = () => (statements++ === at ? fault : undefined)
  const outcome = await act.run(home, name).then(
    () => 'done',
    (error: unknown) => (isVfsError(error, 'EUNKNOWN') ? 'unknown' : `failed: ${String(error)}`),
  )
  const wasCut = statements > at
  proxy.next = () => undefined
  proxy.deliverLate()
  // What the connection shows that was cut is what happened.
  const seen = await act.count(home, name)
  const truth = await act.count(healthy, name)
  expect({ name, fault, at, seen }).toEqual({ name, fault, at, seen: truth })
  return wasCut ? { outcome, truth } : undefined
}

describe.runIf(hasPostgres)('a connection that breaks at any statement', () => {
  it.each(Object.entries(acts))('%s: is done once, and nothing fails', async (kind, act) => {
    let cuts = 0
    for (const fault of faults) {
      for (let at = 0; at < MOST_STATEMENTS; at++) {
        const name = `${kind.replaceAll(' ', '-')}-${fault}-${at}`
        const found = await runWithFault(act, name, fault, at)
        if (found === undefined) break
        cuts++
        expect({ name, ...found }).toEqual({ name, outcome: 'done', truth: 1 })
      }
    }
    expect(cuts).toBeGreaterThan(faults.length * 2)
    expect((await healthy.fsck()).damaged).toEqual([])
  })
})
