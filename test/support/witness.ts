import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { junkIn, openPlace, type Place } from './engines.ts'
import type { Ack } from './run-writer.ts'
import { type ScriptOptions, type Step, stepAt } from './script.ts'
import { HomeModel, HomeStage, perform, performPart, type Stage, stateOf } from './stage.ts'

/** Knows what a writer acknowledged, and holds the home against it. */
export class Witness {
  readonly #script: ScriptOptions
  #model = new HomeModel()
  #next = 0
  /** Steps that failed since the last that was done: one of them may turn out to be stored after all. */
  #doubtful: Step[] = []
  readonly #touched = new Set<string>()

  constructor(script: ScriptOptions) {
    this.#script = script
    this.#model.create('base')
  }

  /** The first step that is not known to be done. */
  get next(): number {
    return this.#next
  }

  /** Takes note of what was acknowledged, which must have come out as it does in the model. */
  async heard(acks: readonly Ack[]): Promise<void> {
    for (const ack of acks) {
      const step = stepAt(this.#script, this.#next)
      expect(ack).toEqual({ number: this.#next, outcome: await perform(this.#model, step) })
      this.#touch(step)
      if (ack.outcome === 'done') this.#doubtful = []
      this.#next++
    }
  }

  /** Takes note of a step that failed: whoever goes on sees nothing of it. */
  failed(number: number): void {
    expect(number).toBe(this.#next)
    const step = stepAt(this.#script, number)
    this.#doubtful.push(step)
    this.#touch(step)
    this.#next++
  }

  /**
   * Opens the home after a crash: everything acknowledged is there, the step under way is there whole or not at all,
   * nothing is damaged and nothing is left lying about. Leaves the home as a crash would, with its journal unfolded.
   */
  async check(place: Place, { everything = false }: { everything?: boolean } = {}): Promise<void> {
    const { home, engine } = await openPlace(place)
    try {
      expect((await home.fsck()).damaged).toEqual([])
      await this.#compare(new HomeStage(home), everything ? undefined : this.#touched)
    } finally {
      await engine.close()
    }
    expect(junkIn(place.path)).toEqual([])
    this.#touched.clear()
    this.#doubtful = []
  }

  async #compare(stage: Stage, only: Set<string> | undefined): Promise<void> {
    const underWay = this.#doubtful.length > 0 ? this.#doubtful : [stepAt(this.#script, this.#next)]
    if (only !== undefined) for (const step of underWay) this.#touch(step)
    const found = await stateOf(stage, only)
    if (isDeepStrictEqual(found, await stateOf(this.#model, only))) return
    const outcomes: unknown[] = []
    for (const step of underWay) {
      const after = this.#model.copy()
      if (step.act === 'burst') await performPart(after, step, stage)
      else await perform(after, step)
      const expected = await stateOf(after, only)
      outcomes.push(expected)
      if (!isDeepStrictEqual(found, expected)) continue
      if (step.act !== 'burst' && this.#doubtful.length === 0) this.#next++
      this.#model = after
      return
    }
    expect(found).toEqual(outcomes.at(-1))
  }

  #touch(step: Step): void {
    if (step.act === 'sync') return
    this.#touched.add(step.vault)
    if (step.act === 'fork' || step.act === 'merge') this.#touched.add(step.name)
  }
}
