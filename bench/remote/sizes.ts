import type { Settings } from '../harness/benchmark.ts'

/** Bytes of a file or row: so few that a vault has them in its tree, and a commit is one row. */
export const SMALL_BYTES = 200
/** Bytes of a file or row that is content of its own. */
export const CONTENT_BYTES = 1024
export const IN_FLIGHT = 100

/** Operations of one pass. */
export function countOperations({ isQuick }: Settings): { readonly commits: number; readonly files: number } {
  return isQuick ? { commits: 50, files: 500 } : { commits: 2000, files: 10_000 }
}

/** Runs a task for each number, with some of them in flight at any time. */
export async function runInFlight(
  count: number,
  task: (number: number) => Promise<unknown>,
): Promise<number> {
  let next = 0
  const run = async () => {
    while (next < count) await task(next++)
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, run))
  return next
}

export const MIB: number = 1024 ** 2

/** Bytes of a large file. */
export function countStreamBytes({ isQuick }: Settings): number {
  return (isQuick ? 32 : 256) * MIB
}
