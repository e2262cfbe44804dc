import type { Recorder } from '../harness/benchmark.ts'

const NANOSECOND = 1e-9

/** Something a programmer runs. `before` is not timed. */
interface Program {
  readonly work: string
  readonly label: string
  /** Project in which it runs. */
  readonly project: 'package' | 'sources' | 'repository'
  readonly before: string
  readonly script: string
  readonly passes: number
}

export const PROGRAMS: readonly Program[] = [
  {
    work: 'npm-ci',
    label: 'npm ci',
    project: 'package',
    before: 'rm -rf node_modules',
    script: 'npm ci --offline --ignore-scripts --no-audit --no-fund --cache ./.cache > /dev/null',
    passes: 3,
  },
  {
    work: 'make',
    label: 'make, a build in C',
    project: 'sources',
    before: 'make clean > /dev/null',
    script: 'make > /dev/null',
    passes: 3,
  },
  {
    work: 'git-status',
    label: 'git status, 10,000 files',
    project: 'repository',
    before: ':',
    script: 'git status --porcelain > /dev/null',
    passes: 10,
  },
  {
    work: 'git-grep',
    label: 'git grep, 10,000 files',
    project: 'repository',
    before: ':',
    script: '! git grep -q "no such text"',
    passes: 10,
  },
]

/** Runs a script in a directory, and resolves with what it prints. */
export type RunScript = (directory: string, script: string) => Promise<string>

/** Lets programs work on projects. The first pass of each is not counted: it finds caches cold. */
export async function measurePrograms(run: RunScript, projects: string, recorder: Recorder): Promise<void> {
  for (const { work, project, before, script, passes } of PROGRAMS) {
    recorder.progress(work)
    const seconds: number[] = []
    for (let pass = 0; pass <= passes; pass++) {
      const answer = await run(`${projects}/${project}`, addTimer(before, script))
      if (pass > 0) seconds.push(Number(answer) * NANOSECOND)
    }
    if (seconds.some((each) => !(each > 0))) throw new Error(`'${work}' failed`)
    recorder.note(work, Math.min(...seconds))
  }
}

function addTimer(before: string, script: string): string {
  return `set -e; ${before}; begun=$(date +%s%N); ${script}; echo $(($(date +%s%N) - begun))`
}

/** Bytes that go through the proxy for one measurement. */
export const PROXY_BYTES: number = 2 ** 30
