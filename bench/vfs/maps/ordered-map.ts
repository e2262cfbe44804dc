import { OrderedMap } from '../../../src/vfs/ordered-map.ts'
import type { Recorder } from '../../harness/benchmark.ts'
import { type ForkableMap, measureMap } from './measure-map.ts'

class OurMap implements ForkableMap {
  readonly #map: OrderedMap<number>

  constructor(map: OrderedMap<number> = new OrderedMap({})) {
    this.#map = map
  }

  get(key: string): number | undefined {
    return this.#map.get(key)
  }

  set(key: string, value: number): void {
    this.#map.set(key, value)
  }

  // The original is not changed afterwards, so only the fork needs a new token.
  fork(): OurMap {
    return new OurMap(this.#map.fork({}))
  }

  sum(): number {
    let sum = 0
    for (const { keys, values } of this.#map.leaves()) {
      for (let at = 0; at < keys.length; at++) sum += (keys[at]?.length ?? 0) + (values[at] ?? 0)
    }
    return sum
  }
}

export function measure(recorder: Recorder): Promise<void> {
  return measureMap(recorder, () => new OurMap())
}
