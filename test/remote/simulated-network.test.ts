import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Home, type Vault } from '../../src/backends/vault/index.ts'
import { MemoryEngine, StoreHome } from '../../src/store/index.ts'
import { isVfsError, readText } from '../../src/vfs/index.ts'
import { type Action, type Deed, isLinearizable } from '../support/linearizability.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { createRandom, type NetworkFlaw, SimulatedNetwork } from '../support/simulated-network.ts'

const SEEDS = scaled(400, 20_000)
const CLIENTS = 3
const DEEDS = 5
const INITIAL = 'start;'
const FILE = '/register'

/** What the clients of one seed did, and what the store has in the end. */
interface History {
  readonly known: readonly Deed[]
  /** Changes that may have been made at any time after they began, or never. */
  readonly unknown: readonly Deed[]
  readonly damage: number
}

describe('several machines on a network that reorders, repeats and loses calls', () => {
  it('get answers that one order explains, and damage nothing', { timeout: PATIENCE_MS }, async () => {
    let outcomes = { unknown: 0, lost: 0, appended: 0 }
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { known, unknown, damage } = await play(seed)
      expect({ seed, isExplained: isExplained(known, unknown), damage }).toEqual({
        seed,
        isExplained: true,
        damage: 0,
      })
      outcomes = {
        unknown: outcomes.unknown + unknown.length,
        lost: outcomes.lost + known.filter(({ action }) => action.op === 'swap' && !action.hasWon).length,
        appended: outcomes.appended + known.filter(({ action }) => action.op === 'append').length,
      }
    }
    // Without trouble and races there would be nothing to get wrong.
    expect(outcomes.unknown).toBeGreaterThan(SEEDS / 50)
    expect(outcomes.lost).toBeGreaterThan(SEEDS / 50)
    expect(outcomes.appended).toBeGreaterThan(SEEDS)
  })

  it.each<NetworkFlaw>(['a commit arrives after later calls', 'a refused commit is acknowledged'])(
    'would be caught if %s',
    async (flaw) => {
      let broken = 0
      for (let seed = 1; seed <= 400 && broken === 0; seed++) {
        // A store with a flaw may also be left without what its vaults need.
        const history = await play(seed, flaw).catch(() => undefined)
        if (history === undefined || history.damage > 0) broken++
        else if (!isExplained(history.known, history.unknown)) broken++
      }
      expect(broken).toBeGreaterThan(0)
    },
  )

  it('act the same with the same seed', async () => {
    expect(await play(7)).toEqual(await play(7))
  })
})

/** Lets clients loose on one file of a shared home. */
async function play(seed: number, flaw?: NetworkFlaw): Promise<History> {
  const store = new MemoryEngine()
  const origin = new Home(new StoreHome(store))
  await (await origin.createVault('base')).write(FILE, INITIAL)
  const random = createRandom(seed)
  const network = new SimulatedNetwork(store, random, { trouble: 0.15, flaw })
  let clock = 0
  const [known, unknown]: [Deed[], Deed[]] = [[], []]
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const home = new Home(new StoreHome(network.connect()))
    const vault = await retry(() => home.vault('base'))
    let content = INITIAL
    for (let number = 0; number < DEEDS; number++) {
      const start = ++clock
      const action = chooseAction(random, content, `${client}.${number};`)
      try {
        const done = await perform(vault, action)
        known.push({ start, end: ++clock, action: done })
        if (done.op === 'read') content = done.found
      } catch (error) {
        // A change that failed otherwise was not made; a read that failed has seen nothing.
        if (isVfsError(error, 'EUNKNOWN')) unknown.push({ start, end: Number.POSITIVE_INFINITY, action })
      }
    }
    await home.close().catch(() => {})
  })
  await Promise.all(clients)
  const last = new Home(new StoreHome(store))
  const found = await readText(await last.vault('base'), FILE)
  known.push({ start: ++clock, end: ++clock, action: { op: 'read', found } })
  const { damaged } = await last.fsck()
  return { known, unknown, damage: damaged.length }
}

function chooseAction(random: () => number, expected: string, text: string): Action {
  const kind = random()
  if (kind < 0.35) return { op: 'read', found: '' }
  if (kind < 0.6) return { op: 'append', text }
  return { op: 'swap', expected, content: text, hasWon: true }
}

/** Performs an action and returns it with its answer. */
async function perform(vault: Vault, action: Action): Promise<Action> {
  if (action.op === 'read') return { op: 'read', found: await readText(vault, FILE) }
  if (action.op === 'append') {
    await vault.append(FILE, action.text)
    return action
  }
  const ifMatch = createHash('sha256').update(action.expected).digest('hex')
  try {
    await vault.write(FILE, action.content, { ifMatch })
    return action
  } catch (error) {
    if (!isVfsError(error, 'ECONFLICT')) throw error
    return { ...action, hasWon: false }
  }
}

/** Reports whether one order explains every answer, if some of the changes with an unknown outcome were made. */
function isExplained(known: readonly Deed[], unknown: readonly Deed[]): boolean {
  const [first, ...rest] = unknown
  if (first === undefined) return isLinearizable(known, INITIAL)
  return isExplained(known, rest) || isExplained([...known, first], rest)
}

async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('connection reset')) throw error
    }
  }
}
