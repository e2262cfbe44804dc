import { describe, expect, it } from 'vitest'
import { Home } from '../../src/backends/vault/index.ts'
import { type Engine, MemoryEngine, StoreHome } from '../../src/store/index.ts'
import { isVfsError, VfsError } from '../../src/vfs/index.ts'
import { addToFigure } from '../support/figures.ts'
import { PATIENCE_MS, scaled } from '../support/scale.ts'
import { type Step, stepAt } from '../support/script.ts'
import { HomeModel, HomeStage, perform, performPart, stateOf } from '../support/stage.ts'
import { type EngineCall, tapEngine } from '../support/tap-engine.ts'

/** Where the script has one thing after another, and then many at once. */
const [FIRST, END] = [720, 765]
/** A new home on the same engine has read nothing yet, so that reads happen and can fail. */
const REOPEN_EVERY = 6
const SEEDS = scaled(2, 40)
/** Steps of one commit: a failure means that nothing of them happened. The others may have come half-way. */
const SINGLE: ReadonlySet<Step['act']> = new Set(['write', 'append', 'mkdir', 'remove', 'rename'])

/** Fails the call with a number, once. */
class Fault {
  readonly engine: Engine
  readonly at: number
  calls = 0
  isArmed = true
  failed: EngineCall | undefined

  constructor(engine: Engine, at: number) {
    this.at = at
    this.engine = tapEngine(engine, { before: (call) => this.#count(call) })
  }

  #count(call: EngineCall): void {
    if (!this.isArmed || this.calls++ !== this.at) return
    this.failed = call
    const code = call === 'commit' && this.at % 2 === 0 ? 'ENOSPC' : 'EIO'
    throw new VfsError(code, '/', { op: call, detail: 'the disk says no' })
  }
}

describe('an engine that fails once', () => {
  it('is reported by the operation that it failed, and leaves vaults consistent and usable', {
    timeout: PATIENCE_MS,
  }, async () => {
    const failures = new Map<EngineCall, number>()
    for (let seed = 1; seed <= SEEDS; seed++) {
      for (let at = 0; ; at++) {
        const failed = await runWithFault(seed, at)
        if (failed === undefined) break
        addToFigure('engineFaults')
        failures.set(failed, (failures.get(failed) ?? 0) + 1)
      }
    }
    for (const call of ['commit', 'readPage', 'readBlob', 'readRecord', 'readJournal'] as const)
      expect(failures.get(call), call).toBeGreaterThan(5)
  })

  it('loses nothing when it fails a fold of a long journal', async () => {
    const memory = new MemoryEngine()
    const folds = { failed: 0 }
    const engine = tapEngine(memory, {
      before: (call, [batch]) => {
        const isFold = call === 'commit' && JSON.stringify(batch).includes('"pages":[{')
        if (!isFold || folds.failed >= 3) return
        folds.failed++
        throw new VfsError('ENOSPC', '/', { op: call, detail: 'the disk is full' })
      },
    })
    await new Home(new StoreHome(memory)).createVault('base')
    const vault = await new Home(new StoreHome(engine)).vault('base')
    for (let round = 0; round < 45; round++) {
      const writes = Array.from({ length: 100 }, (_, file) => vault.write(`/f${file}`, `${round} ${file}`))
      await Promise.all(writes)
    }
    expect(folds.failed).toBe(3)
    const home = new Home(new StoreHome(memory))
    const stage = new HomeStage(home)
    const model = new HomeModel()
    model.create('base')
    const expected = await model.vault('base')
    for (let file = 0; file < 100; file++) await expected.write(`/f${file}`, `44 ${file}`)
    expect(await stateOf(stage)).toEqual(await stateOf(model))
    expect((await home.fsck()).damaged).toEqual([])
  })
})

/** Performs a script with one failure in it; returns the call that failed, or undefined if there were not so many. */
async function runWithFault(seed: number, at: number): Promise<EngineCall | undefined> {
  const memory = new MemoryEngine()
  await new Home(new StoreHome(memory)).createVault('base')
  const fault = new Fault(memory, at)
  const run = new FaultyRun(fault)
  const script = { seed, mergeEvery: 40, hasBursts: true }
  for (let number = FIRST; number < END; number++) {
    if (number % REOPEN_EVERY === 0) run.reopen()
    await run.take(stepAt(script, number))
  }
  fault.isArmed = false
  await run.check(memory)
  return fault.failed
}

class FaultyRun {
  readonly #fault: Fault
  #model = new HomeModel()
  #stage: HomeStage

  constructor(fault: Fault) {
    this.#fault = fault
    this.#model.create('base')
    this.#stage = this.#open(fault.engine)
  }

  reopen(): void {
    this.#stage = this.#open(this.#fault.engine)
  }

  async take(step: Step): Promise<void> {
    const hadFailed = this.#fault.failed
    const outcome = await this.#outcome(step)
    // What was tried again behind the scenes, or put off, comes out as if nothing had been.
    const isTold = outcome.startsWith('failed') && hadFailed === undefined && this.#fault.failed !== undefined
    if (!isTold) {
      expect({ step, outcome }).toEqual({ step, outcome: await perform(this.#model, step) })
      return
    }
    // Told as what it was; and either done or not, seen through this home.
    expect(outcome).toMatch(/^failed: (EIO|ENOSPC)$/)
    const found = await stateOf(this.#stage)
    const after = this.#model.copy()
    if (step.act === 'burst') await performPart(after, step, this.#stage)
    else await perform(after, step)
    if (SINGLE.has(step.act)) expect(found).toEqual(await stateOf(this.#model))
    else expect([await stateOf(this.#model), await stateOf(after)]).toContainEqual(found)
    if (JSON.stringify(found) === JSON.stringify(await stateOf(after))) this.#model = after
  }

  /** As a new home sees it, and as the old one does. */
  async check(memory: MemoryEngine): Promise<void> {
    const expected = await stateOf(this.#model)
    expect(await stateOf(this.#stage)).toEqual(expected)
    const home = new Home(new StoreHome(memory))
    expect(await stateOf(new HomeStage(home))).toEqual(expected)
    expect((await home.fsck()).damaged).toEqual([])
  }

  #open(engine: Engine): HomeStage {
    return new HomeStage(new Home(new StoreHome(engine)))
  }

  async #outcome(step: Step): Promise<string> {
    try {
      return await perform(this.#stage, step)
    } catch (error) {
      return isVfsError(error) ? `failed: ${error.code}` : String(error)
    }
  }
}
