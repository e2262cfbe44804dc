/**
 * Tells how many steps of a script a home holds: the newest state of the script it equals, or -1 if there is none.
 * A process of its own, for what a power cut leaves of a home may end whoever looks at it.
 */
import { isDeepStrictEqual } from 'node:util'
import { openPlace, type Place } from './engines.ts'
import { type ScriptOptions, stepAt } from './script.ts'
import { HomeModel, HomeStage, perform, stateOf } from './stage.ts'

export interface HeldOrder {
  readonly place: Place
  readonly script: ScriptOptions
  /** The most it can hold. */
  readonly most: number
}

export interface Held {
  readonly steps: number
  readonly damaged: readonly unknown[]
}

async function held({ place, script, most }: HeldOrder): Promise<Held> {
  const { home, engine } = await openPlace(place)
  const { damaged } = await home.fsck()
  const found = await stateOf(new HomeStage(home))
  const model = new HomeModel()
  model.create('base')
  const states = [model.copy()]
  for (let number = 0; number < most; number++) {
    await perform(model, stepAt(script, number))
    states.push(model.copy())
  }
  let steps = most
  for (; steps >= 0; steps--) {
    const state = states[steps]
    if (state !== undefined && isDeepStrictEqual(found, await stateOf(state))) break
  }
  await engine.close()
  return { steps, damaged }
}

process.stdout.write(JSON.stringify(await held(JSON.parse(process.argv[2] ?? ''))))
process.stdin.destroy()
