import { median } from '../../harness/statistics.ts'

/** Does something several times, each after an untimed preparation. Returns the median of the seconds. */
export async function measureMedian<Prepared>(
  times: number,
  prepare: (turn: number) => Promise<Prepared>,
  run: (prepared: Prepared, turn: number) => Promise<unknown>,
): Promise<number> {
  const seconds: number[] = []
  for (let turn = 0; turn < times; turn++) {
    const prepared = await prepare(turn)
    const startedAt = performance.now()
    await run(prepared, turn)
    seconds.push((performance.now() - startedAt) / 1000)
  }
  return median(seconds)
}
