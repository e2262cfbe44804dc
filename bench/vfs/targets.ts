import type { Target } from '../harness/benchmark.ts'
import { formatRatio, formatSeconds } from '../harness/format.ts'

/** What the `vfs` layer has promised, on the same run. */
export const targets: readonly Target[] = [
  ...['write', 'read', 'stat'].flatMap((work) => [
    atLeast(1, 'just-bash', work, work),
    atLeast(2, 'memfs', work, work),
  ]),
  atLeast(5, 'just-bash', 'walk', 'walk'),
  atLeast(5, 'just-bash', 'grep', 'grep line by line'),
  forkWithin(20e-6, 'fork-1k', '1,000 files'),
  forkWithin(20e-6, 'fork-100k', '100,000 files'),
  slowdown('fork of 100,000 files at most 2× that of 1,000', 2, 'fork-100k', 'fork-1k'),
  slowdown('dispatch through 100 mounts at most 1.5× that through one', 1.5, 'dispatch-100', 'dispatch-1'),
]

function atLeast(factor: number, peer: string, work: string, label: string): Target {
  return {
    label: `${label} at least ${factor}× ${peer}`,
    judge(results) {
      const speedup = results.speedup('coppice', peer, work)
      if (speedup === undefined) return undefined
      return { isReached: speedup >= factor, found: `${formatRatio(speedup)} ${peer}` }
    },
  }
}

function forkWithin(seconds: number, work: string, label: string): Target {
  return {
    label: `fork of ${label} under ${formatSeconds(seconds)}`,
    judge(results) {
      const found = results.seconds('coppice', work)
      if (found === undefined) return undefined
      return { isReached: found < seconds, found: formatSeconds(found) }
    },
  }
}

/** One work may take so many times as long as another, both ours. */
function slowdown(label: string, factor: number, work: string, base: string): Target {
  return {
    label,
    judge(results) {
      const slow = results.seconds('coppice', work)
      const quick = results.seconds('coppice', base)
      if (slow === undefined || quick === undefined) return undefined
      return { isReached: slow / quick <= factor, found: formatRatio(slow / quick) }
    },
  }
}
