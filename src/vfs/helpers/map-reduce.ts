import type { CallContext, FileSystem, WalkEntry } from '../file-system.ts'
import { countCores } from '../runtime.ts'

/** Options of `mapReduce`. */
export interface MapReduceOptions {
  /** Number of files mapped concurrently. Twice the cores when absent. */
  readonly concurrency?: number
}

/**
 * Maps every file below a root, several at once, and reduces the results as they arrive, in no particular order. The
 * first failure ends it, once the running maps have settled.
 *
 * @example
 * ```ts
 * const fs = new MemoryFs({ '/a.txt': 'one', '/b.txt': 'two' })
 * const files = await mapReduce(fs, '/', () => 1, (sum, one) => sum + one, 0)
 * assert.equal(files, 2)
 * ```
 */
export async function mapReduce<Mapped, Result>(
  fs: FileSystem,
  root: string,
  map: (entry: WalkEntry, content: AsyncIterable<Uint8Array>) => Mapped | Promise<Mapped>,
  reduce: (result: Result, mapped: Mapped) => Result,
  init: Result,
  { concurrency = 2 * countCores() }: MapReduceOptions = {},
  ctx?: CallContext,
): Promise<Result> {
  let result = init
  const entries = fs.walk(root, undefined, ctx)[Symbol.asyncIterator]()
  let failed = false
  const worker = async () => {
    while (!failed) {
      const next = await entries.next()
      if (next.done) return
      if (next.value.stat.type !== 'file') continue
      const mapped = await map(next.value, fs.read(next.value.path, undefined, ctx))
      result = reduce(result, mapped)
    }
  }
  const settled = await Promise.allSettled(
    Array.from({ length: Math.max(1, Math.floor(concurrency) || 1) }, () =>
      worker().catch((error) => {
        failed = true
        throw error
      }),
    ),
  )
  const failure = settled.find((outcome) => outcome.status === 'rejected')
  if (!failure) return result
  await entries.return?.()
  throw failure.reason
}
