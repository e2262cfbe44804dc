import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, it } from 'vitest'
import { openPlace, type Place } from '../support/engines.ts'
import { addToFigure } from '../support/figures.ts'
import { type Action, type Deed, isLinearizable } from '../support/linearizability.ts'
import type { ClientOrder, ToldDeed } from '../support/register-client.ts'
import { startProgram } from '../support/run-writer.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { everySharedEngine, useSharedPlaces } from '../support/shared-places.ts'

const CLIENTS = 4
/** A server takes several trips for what a local engine does in one. */
const roundsOn = (engine: Place['engine']) => scaled(engine === 'postgres' ? 5 : 12, 300)
const FILES_PER_ROUND = 3
const DEEDS_PER_FILE = 15
const INITIAL = 'start;'

const placeOn = useSharedPlaces()
const scratch = mkdtempSync(join(tmpdir(), 'coppice-linear-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe('the check for linearizability', () => {
  const deed = (start: number, end: number, action: Action): Deed => ({ start, end, action })
  const read = (start: number, end: number, found: string) => deed(start, end, { op: 'read', found })
  const append = (start: number, end: number, text: string) => deed(start, end, { op: 'append', text })
  const swap = (start: number, end: number, expected: string, content: string, hasWon = true) =>
    deed(start, end, { op: 'swap', expected, content, hasWon })

  it('accepts actions in any order that explains every response', () => {
    expect(isLinearizable([append(0, 9, 'b'), read(1, 2, 'a'), read(3, 4, 'ab')], 'a')).toBe(true)
    expect(isLinearizable([swap(0, 9, 'a', 'x'), swap(0, 9, 'a', 'y', false)], 'a')).toBe(true)
    expect(isLinearizable([append(0, 9, '1'), append(0, 9, '2'), read(10, 11, 'a21')], 'a')).toBe(true)
  })

  it('refuses a lost update, a stale read, a read that goes back, and two winners of one race', () => {
    expect(isLinearizable([append(0, 9, '1'), append(0, 9, '2'), read(10, 11, 'a1')], 'a')).toBe(false)
    expect(isLinearizable([append(0, 1, 'b'), read(2, 3, 'a')], 'a')).toBe(false)
    expect(isLinearizable([append(0, 9, 'b'), read(1, 2, 'ab'), read(3, 4, 'a')], 'a')).toBe(false)
    expect(isLinearizable([swap(0, 9, 'a', 'x'), swap(0, 9, 'a', 'y')], 'a')).toBe(false)
  })
})

describe('four processes on one vault', () => {
  it.each(everySharedEngine)(
    'get responses from %s that one order explains',
    {
      timeout: PATIENCE_MS,
    },
    async (engine) => {
      const histories = await historiesOf({ ...placeOn(engine, scratch), freshness: 'strict' })
      const broken = [...histories].filter(([, deeds]) => !isLinearizable(deeds, INITIAL))
      expect(broken).toEqual([])
      const all = [...histories.values()].flat()
      addToFigure('registerCalls', all.length)
      expect(all.length).toBe(CLIENTS * roundsOn(engine) * FILES_PER_ROUND * DEEDS_PER_FILE)
      // Without races there would be nothing to get wrong.
      const lost = all.filter(({ action }) => action.op === 'swap' && !action.hasWon)
      expect(lost.length).toBeGreaterThan(10)
    },
  )

  it.each(['stale reads', 'blind writes'] as const)(
    'would be caught at %s',
    {
      timeout: PATIENCE_MS,
    },
    async (flaw) => {
      const place: Place = { path: join(scratch, flaw), engine: 'sqlite' }
      const histories = await historiesOf(place, flaw)
      const broken = [...histories].filter(([, deeds]) => !isLinearizable(deeds, INITIAL))
      expect(broken.length).toBeGreaterThan(0)
    },
  )
})

/** Lets the clients loose on a new home; what they did, by file. */
async function historiesOf(place: Place, flaw?: ClientOrder['flaw']): Promise<Map<string, ToldDeed[]>> {
  const rounds = Array.from({ length: roundsOn(place.engine) }, (_, round) =>
    Array.from({ length: FILES_PER_ROUND }, (_, file) => `/${round}/${file}`),
  )
  const { home } = await openPlace(place)
  const vault = await home.createVault('base')
  for (const path of rounds.flat()) await vault.write(path, INITIAL)
  await home.close()
  const orders = Array.from({ length: CLIENTS }, (_, client): ClientOrder => {
    const order = { place, client, rounds, deedsPerFile: DEEDS_PER_FILE }
    return flaw === undefined ? order : { ...order, flaw }
  })
  return Map.groupBy(await runClients(orders), ({ path }) => path)
}

async function runClients(orders: readonly ClientOrder[]): Promise<ToldDeed[]> {
  const clients = orders.map((order) => startProgram('register-client', order))
  let ready = 0
  const histories = clients.map(async (client) => {
    const deeds: ToldDeed[] = []
    client.stderr.pipe(process.stderr)
    for await (const line of createInterface({ input: client.stdout })) {
      const said: 'ready' | ToldDeed = JSON.parse(line)
      if (said !== 'ready') deeds.push(said)
      else if (++ready % clients.length === 0) for (const each of clients) each.stdin.write('go\n')
    }
    return deeds
  })
  return (await Promise.all(histories)).flat()
}
