import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Home, type Vault } from '../../src/backends/vault/index.ts'
import { MemoryEngine, StoreHome } from '../../src/store/index.ts'
import { isVfsError, readText } from '../../src/vfs/index.ts'
import { type Break, LossyEngine, losses } from '../support/lossy-engine.ts'
import { scaled } from '../support/scale.ts'

const MOST_CUTS = scaled(2, 6)
const MOST_TRIES = 200

/** Something that is done in one call, and how to see how often it was. */
interface Act {
  readonly run: (home: Home) => Promise<unknown>
  readonly count: (home: Home) => Promise<number>
}

const base = (home: Home) => home.vault('base')
const has = async (home: Home, name: string) => Number((await home.vaults()).includes(name))
const checkpointsOf = async (home: Home) => (await base(home)).checkpoints()

const acts: Readonly<Record<string, Act>> = {
  append: {
    run: async (home) => (await base(home)).append('/log', 'more\n'),
    count: async (home) => (await textOf(await base(home), '/log')).split('more').length - 1,
  },
  'a large write': {
    run: async (home) => (await base(home)).write('/large', pieces()),
    count: async (home) => Number(await (await base(home)).exists('/large')),
  },
  create: { run: (home) => home.createVault('new'), count: (home) => has(home, 'new') },
  fork: { run: (home) => home.fork('base', 'new'), count: (home) => has(home, 'new') },
  'fork at a checkpoint': {
    run: (home) => home.fork('base', 'new', { at: 'first' }),
    count: (home) => has(home, 'new'),
  },
  checkpoint: {
    run: async (home) => (await base(home)).checkpoint(),
    count: async (home) => (await checkpointsOf(home)).length - 1,
  },
  'remove a checkpoint': {
    run: async (home) => (await base(home)).removeCheckpoint('first'),
    count: async (home) => 1 - (await checkpointsOf(home)).length,
  },
  restore: {
    run: async (home) => (await base(home)).restore('first'),
    count: async (home) => Number(!(await (await base(home)).exists('/late'))),
  },
  merge: {
    run: (home) => home.merge('task', 'base'),
    count: async (home) => Number(await (await base(home)).exists('/done')),
  },
  delete: { run: (home) => home.deleteVault('task'), count: async (home) => 1 - (await has(home, 'task')) },
}

describe('an engine whose answers get lost', () => {
  it.each(Object.entries(acts))('%s: fails only if it was not done', async (_name, act) => {
    const outcomes = new Set<string>()
    for (const loss of losses) {
      for (let cuts = 0; cuts <= MOST_CUTS; cuts++) {
        for (let at = 0; ; at++) {
          const outcome = await runWithLoss(act, { loss, cuts }, at)
          if (outcome === undefined) break
          outcomes.add(outcome)
        }
      }
    }
    expect(outcomes).toContain('done')
  })

  it('answers EUNKNOWN if it cannot be asked, and shows at the next read what happened', async () => {
    for (const loss of ['before', 'during', 'after'] as const) {
      const store = await storedHome()
      let broken: Break | undefined
      const home = open(new LossyEngine(store, (batch) => (batch.journal === undefined ? undefined : broken)))
      const vault = await base(home)
      await vault.append('/log', 'one\n')
      broken = { loss, cuts: 1 }
      const failure: unknown = await vault.append('/log', 'two\n').catch((error: unknown) => error)
      expect(isVfsError(failure, 'EUNKNOWN')).toBe(true)
      broken = undefined
      expect(await readText(vault, '/log')).toBe(loss === 'before' ? 'one\n' : 'one\ntwo\n')
    }
  })

  it('leaves callers that try again after a failure, and only then, with everything once', async () => {
    const broken = fc.record({ loss: fc.constantFrom(...losses), cuts: fc.nat(2) })
    const plan = fc.array(fc.option(broken, { freq: 2, nil: undefined }), { minLength: 20, maxLength: 60 })
    const steps = fc.array(fc.constantFrom('append', 'burst', 'checkpoint', 'fork'), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(fc.tuple(plan, plan), fc.tuple(steps, steps), async (plans, work) => {
        const store = await storedHome()
        const callers = plans.map((breaks, number) => new Caller(store, breaks, number))
        await Promise.all(callers.map((caller, number) => caller.perform(work[number] ?? [])))
        await expectOnce(store, callers)
      }),
      { numRuns: scaled(30, 3000) },
    )
  })
})

/** Runs an act with the commit of a number lost; undefined if there were not so many. */
async function runWithLoss(act: Act, broken: Break, at: number): Promise<string | undefined> {
  const store = await storedHome()
  let commits = 0
  const home = open(new LossyEngine(store, () => (commits++ === at ? broken : undefined)))
  const outcome = await act.run(home).then(
    () => 'done',
    (error: unknown) => (isVfsError(error, 'EUNKNOWN') ? 'unknown' : `failed: ${String(error)}`),
  )
  if (commits <= at) return undefined
  const truth = await act.count(healthy(store))
  const where = { ...broken, at }
  if (outcome !== 'unknown')
    expect({ ...where, outcome, truth }).toEqual({ ...where, outcome, truth: Number(outcome === 'done') })
  commits = Number.POSITIVE_INFINITY
  expect({ ...where, seen: await persistently(() => act.count(home)) }).toEqual({ ...where, seen: truth })
  expect((await healthy(store).fsck()).damaged).toEqual([])
  return outcome
}

/** Somebody on a bad connection, who does each thing until it is done. */
class Caller {
  readonly home: Home
  readonly lines: string[] = []
  readonly forks: string[] = []
  checkpoints = 0
  readonly #number: number

  constructor(store: MemoryEngine, breaks: readonly (Break | undefined)[], number: number) {
    const left = [...breaks]
    this.home = open(new LossyEngine(store, () => left.shift()))
    this.#number = number
  }

  async perform(work: readonly string[]): Promise<void> {
    const vault = await persistently(() => base(this.home))
    for (const [index, step] of work.entries()) {
      const name = `${this.#number}-${index}`
      if (step === 'append') await this.#append(vault, name)
      else if (step === 'burst')
        await Promise.all([1, 2, 3].map((part) => this.#append(vault, `${name}-${part}`)))
      else if (step === 'fork') await this.#fork(name)
      else await this.#checkpoint(vault, name)
    }
  }

  async #append(vault: Vault, line: string): Promise<void> {
    this.lines.push(line)
    await until(
      () => vault.append('/log', `${line}\n`),
      async () => (await textOf(vault, '/log')).split('\n').includes(line),
    )
  }

  async #fork(name: string): Promise<void> {
    this.forks.push(name)
    await until(
      () => this.home.fork('base', name),
      async () => (await has(this.home, name)) === 1,
    )
  }

  async #checkpoint(vault: Vault, description: string): Promise<void> {
    this.checkpoints++
    await until(
      () => vault.checkpoint(undefined, { description }),
      async () => (await vault.checkpoints()).some((found) => found.description === description),
    )
  }
}

/** Tries again after a failure; where the outcome is unknown, looks whether it is done. */
async function until(act: () => Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    try {
      await act()
      return
    } catch (error) {
      if (isVfsError(error, 'EUNKNOWN') && (await persistently(isDone))) return
    }
  }
  throw new Error('it is never done')
}

async function persistently<T>(look: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await look()
    } catch (error) {
      if (tries === MOST_TRIES) throw error
    }
  }
}

async function expectOnce(store: MemoryEngine, callers: readonly Caller[]): Promise<void> {
  const home = healthy(store)
  const vault = await base(home)
  const text = await textOf(vault, '/log')
  expect(text.split('\n').filter(Boolean).sort()).toEqual(callers.flatMap(({ lines }) => lines).sort())
  const checkpoints = callers.reduce((sum, caller) => sum + caller.checkpoints, 1)
  expect((await vault.checkpoints()).length).toBe(checkpoints)
  const forks = callers.flatMap((caller) => caller.forks)
  expect(await home.vaults()).toEqual(['base', 'task', ...forks].sort())
  for (const caller of callers)
    expect(await persistently(async () => textOf(await base(caller.home), '/log'))).toBe(text)
  expect((await home.fsck()).damaged).toEqual([])
}

/** A base with a checkpoint and a change behind it, and a fork with one to be merged. */
async function storedHome(): Promise<MemoryEngine> {
  const store = new MemoryEngine()
  const home = healthy(store)
  const vault = await home.createVault('base')
  await vault.write('/early', 'early')
  await vault.checkpoint('first')
  await vault.write('/late', 'late')
  const task = await home.fork('base', 'task')
  await task.write('/done', 'done')
  return store
}

function healthy(store: MemoryEngine): Home {
  return new Home(new StoreHome(store))
}

function open({ engine }: LossyEngine): Home {
  return new Home(new StoreHome(engine))
}

async function textOf(vault: Vault, path: string): Promise<string> {
  return (await vault.exists(path)) ? readText(vault, path) : ''
}

/** More than may wait in memory, so that some of it is stored ahead of the commit. */
async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < 9; piece++) yield new Uint8Array(1024 * 1024).fill(piece)
}
