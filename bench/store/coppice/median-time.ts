import { median } from '../../harness/statistics.ts'

/** The median seconds of something that is done several times, each after an untimed preparation. */
export async function medianTime<Prepared>(
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
