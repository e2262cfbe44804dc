import type { Benchmark, Part, SubjectEntry } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'
import { SIZES } from './directories.ts'
import { PROGRAMS } from './programs.ts'

const MILLISECOND = 1e-3
const ours = new Targets('coppice')
/** How fast a program is that takes a tenth longer. */
const A_TENTH_LONGER = 0.91

function part(subject: string, name: string): Part {
  return { name, module: new URL(`./subjects/${subject}-${name}.ts`, import.meta.url) }
}

function subject(name: string, ...parts: readonly string[]): SubjectEntry {
  return { name, parts: parts.map((each) => part(name, each)) }
}

const [smallest = 0, , largest = 0] = SIZES

/** `coppice exec`: what it adds to a command, beside the plain disk and what a shell can do with the same kernel. */
export const exec: Benchmark = {
  name: 'exec',
  summary: 'commands run in a fork of a directory',
  subjects: [
    subject('coppice', 'start', 'programs', 'collect'),
    subject('disk', 'programs'),
    subject('unshare', 'start', 'programs'),
    subject('bubblewrap', 'start'),
  ],
  works: [
    ...SIZES.map((size) => ({
      id: `start-${size}`,
      label: `true, in ${told(size)} files`,
      unit: 'time' as const,
    })),
    { id: 'version', label: 'coppice --version', unit: 'time' },
    { id: 'help', label: 'coppice --help', unit: 'time' },
    { id: 'ls', label: 'coppice ls', unit: 'time' },
    ...PROGRAMS.map(({ work, label }) => ({ id: work, label, unit: 'time' as const })),
    { id: 'collect', label: `10 changes in ${told(largest)} files`, unit: 'time' },
    { id: 'stage', label: 'a fork with 2,000 changes goes on', unit: 'time' },
  ],
  targets: [
    ours.within(150 * MILLISECOND, `start-${largest}`, `true, in ${told(largest)} files,`),
    ours.slowdown(
      `flat from ${told(smallest)} to ${told(largest)} files`,
      1.2,
      `start-${largest}`,
      `start-${smallest}`,
    ),
    ...PROGRAMS.map(({ work, label }) => ours.atLeast(A_TENTH_LONGER, 'disk', work, label)),
    ours.within(50 * MILLISECOND, 'collect', 'collecting 10 changes'),
  ],
  notes: [
    'Rows of coppice before the programs: what it takes more than `node -e 0`, both taken in turn. Build it first.',
    'unshare: an overlay mounted by a shell; bubblewrap: no overlay at all. Neither keeps anything.',
    'Programs tell their own time, so starting them does not count. Needs git, make, cc and npm.',
  ],
  hasQuickForm: true,
}

function told(count: number): string {
  return count.toLocaleString('en-US')
}
