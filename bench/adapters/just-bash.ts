import type { Target, Work } from '../harness/benchmark.ts'
import { time } from '../harness/entries.ts'
import { Targets } from '../harness/targets.ts'

const ours = new Targets('coppice')

/** Module of the part on just-bash. */
export const bashPart = { 'just-bash': './just-bash/script.ts' }

export const bashWorks: readonly Work[] = [
  time('bash-theirs', 'a command of just-bash on its InMemoryFs'),
  time('bash-memory', 'the same on MemoryFs'),
  time('bash-vault', 'the same on a vault'),
]

export const bashTargets: readonly Target[] = [
  ours.slowdown('just-bash on MemoryFs at most 1.2× of its InMemoryFs', 1.2, 'bash-memory', 'bash-theirs'),
  ours.slowdown('just-bash on a vault at most 2× of its InMemoryFs', 2, 'bash-vault', 'bash-theirs'),
]

export const bashNotes: readonly string[] = [
  'just-bash: one script of 1,000 small commands with the hardening on, divided by 1,000.',
]
