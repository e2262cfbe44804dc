import type { Target, Work } from '../harness/benchmark.ts'
import { rate } from '../harness/entries.ts'
import { Targets } from '../harness/targets.ts'

const ours = new Targets('coppice')

/** Module of the part on repositories. */
export const gitPart = { git: './git/repository.ts' }

export const gitWorks: readonly Work[] = [
  rate('git-walk', 'entries of a repository walked, with sizes'),
  rate('git-walk-theirs', "the same by isomorphic-git's walk, without sizes"),
  rate('git-read', 'files of a repository read'),
  rate('git-read-theirs', "the same by isomorphic-git's readBlob"),
]

export const gitTargets: readonly Target[] = [
  ours.speedup("a walk at least 5× isomorphic-git's", 5, 'git-walk', 'git-walk-theirs'),
  ours.speedup("reads at least 5× isomorphic-git's", 5, 'git-read', 'git-read-theirs'),
]

export const gitNotes: readonly string[] = [
  'git: 50,000 entries in one pack, opened anew for each walk; 5,000 files read, 16 at a time, by ids that are known.',
]
