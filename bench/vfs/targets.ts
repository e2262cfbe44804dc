import type { Target } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'

const coppice = new Targets('coppice')

/** Targets of the `vfs` layer, each by measurements of the same run. */
export const targets: readonly Target[] = [
  ...['write', 'read', 'stat'].flatMap((work) => [
    coppice.atLeast(1, 'just-bash', work, work),
    coppice.atLeast(2, 'memfs', work, work),
  ]),
  coppice.atLeast(1.1, 'just-bash', 'cold-write', 'write in a new process'),
  coppice.atLeast(1.1, 'just-bash', 'cold-read', 'read in a new process'),
  coppice.atLeast(1.1, 'just-bash-copied', 'cold-write', 'write in a new process'),
  coppice.atLeast(1.1, 'just-bash-copied', 'cold-read', 'read in a new process'),
  coppice.atLeast(5, 'just-bash', 'walk', 'walk'),
  coppice.atLeast(5, 'just-bash', 'grep', 'grep line by line'),
  coppice.within(20e-6, 'fork-1k', 'fork of 1,000 files'),
  coppice.within(20e-6, 'fork-100k', 'fork of 100,000 files'),
  coppice.slowdown('fork of 100,000 files at most 2× that of 1,000', 2, 'fork-100k', 'fork-1k'),
  coppice.slowdown(
    'dispatch through 100 mounts at most 1.5× that through one',
    1.5,
    'dispatch-100',
    'dispatch-1',
  ),
]
