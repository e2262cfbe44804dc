import { spawnSync } from 'node:child_process'

const PASSES = 10

/** A command to start, with its directory and environment. */
export interface Start {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
}

/** Returns the seconds that each command takes from start to end: the fastest of a few runs, taken in turn. */
export function measureStarts(starts: readonly Start[]): number[] {
  const best = starts.map(() => Number.POSITIVE_INFINITY)
  // The first pass does not count: it finds caches cold.
  for (let pass = 0; pass <= PASSES; pass++) {
    for (const [index, start] of starts.entries()) {
      const seconds = timeStart(start)
      if (pass > 0) best[index] = Math.min(best[index] ?? seconds, seconds)
    }
  }
  return best
}

function timeStart({ argv, cwd, env }: Start): number {
  const [file = '', ...args] = argv
  const begun = performance.now()
  const { status, stderr } = spawnSync(file, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: env ?? process.env,
  })
  const seconds = (performance.now() - begun) / 1000
  if (status !== 0) throw new Error(`'${argv.join(' ')}' failed: ${stderr}`)
  return seconds
}
