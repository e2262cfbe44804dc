import type { Benchmark, Part, SubjectEntry } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'
import { APPLIED_FILES, APPLY_FACTOR, MERGE_SECONDS, MERGED_FILES } from './applied-files.ts'
import { COMPARED_FORKS, SIZES } from './directories.ts'
import { HOOK_BYTES, HOOK_LIMIT, HOOK_RECORDS, HOOK_SIZES, WATCHED_HOOK_LIMIT } from './hooks.ts'
import { HOME_FACTOR, IMPORT_FACTOR, IMPORTED_FILES, INDEX_FACTOR, SMALL_TEXTS } from './imported-files.ts'
import { PROGRAMS, PROXY_BYTES } from './programs.ts'

const MILLISECOND = 1e-3
const ours = new Targets('coppice')
/** Least speed of a program in a fork, beside the same on the disk: it may take a tenth longer. */
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
    subject(
      'coppice',
      // Before parts that remove many files: ext4 then takes ten times as long to create one, for minutes.
      'apply',
      'start',
      'enter',
      'programs',
      'collect',
      'terminal',
      'proxy',
      'hook',
      'compare',
      'vault',
      'texts',
    ),
    subject('git', 'vault', 'texts'),
    subject('disk', 'programs', 'apply'),
    subject('node', 'apply'),
    subject('c', 'apply'),
    subject('unshare', 'start', 'programs'),
    subject('bubblewrap', 'start'),
    subject('pty', 'terminal'),
    subject('script', 'terminal'),
  ],
  works: [
    ...SIZES.map((size) => ({
      id: `start-${size}`,
      label: `true, in ${formatCount(size)} files`,
      unit: 'time' as const,
    })),
    { id: 'enter-running', label: 'enter FORK -- true, beside a command', unit: 'time' },
    { id: 'enter-kept', label: 'enter FORK -- true, where nothing runs', unit: 'time' },
    { id: 'version', label: 'coppice --version', unit: 'time' },
    { id: 'help', label: 'coppice --help', unit: 'time' },
    { id: 'ls', label: 'coppice ls', unit: 'time' },
    ...PROGRAMS.map(({ work, label }) => ({ id: work, label, unit: 'time' as const })),
    { id: 'collect', label: `10 changes in ${formatCount(largest)} files`, unit: 'time' },
    { id: 'stage', label: 'a fork with 2,000 changes goes on', unit: 'time' },
    { id: 'key', label: 'a key there and back, median', unit: 'time' },
    { id: 'key-p95', label: 'a key there and back, 95 of 100', unit: 'time' },
    { id: 'proxy-direct', label: 'download without a proxy', unit: { throughput: PROXY_BYTES } },
    { id: 'proxy-tunnel', label: 'download by CONNECT', unit: { throughput: PROXY_BYTES } },
    { id: 'proxy-http', label: 'download by plain HTTP', unit: { throughput: PROXY_BYTES } },
    { id: 'proxy-bare', label: 'download by a bare proxy in Node', unit: { throughput: PROXY_BYTES } },
    { id: 'proxy-relay', label: 'download by a relay in C, socat', unit: { throughput: PROXY_BYTES } },
    {
      id: 'proxy-splice',
      label: 'download by one inside the kernel, haproxy',
      unit: { throughput: PROXY_BYTES },
    },
    { id: 'proxy-connections', label: '1,000 connections at once', unit: 'rate' },
    { id: 'proxy-left', label: 'descriptors left by them', unit: 'times' },
    ...HOOK_SIZES.flatMap((size) => [
      { id: `hook-watched-${size}`, label: `a hook in ${formatCount(size)} files`, unit: 'time' as const },
      { id: `hook-${size}`, label: 'the same without the watcher', unit: 'time' as const },
    ]),
    {
      id: 'compare',
      label: `compare ${COMPARED_FORKS} forks of ${formatCount(largest)} files`,
      unit: 'time',
    },
    { id: 'apply', label: `apply of ${formatCount(APPLIED_FILES)} files, less that of one`, unit: 'time' },
    { id: 'apply-start', label: 'apply of one file', unit: 'time' },
    {
      id: 'apply-merge',
      label: `apply --merge of ${formatCount(MERGED_FILES)} files, elapsed`,
      unit: 'time',
    },
    { id: 'apply-merge-processor', label: 'its processor time', unit: 'time' },
    { id: 'import', label: `import of ${formatCount(IMPORTED_FILES)} files`, unit: 'time' },
    { id: 'import-space', label: 'its home / bytes', unit: 'times' },
    { id: 'index-space', label: 'its home with an index / without', unit: 'times' },
    { id: 'grep-first', label: 'first grep of them', unit: 'time' },
    { id: 'checkout', label: 'checkout of them, beside the command', unit: 'time' },
    { id: 'import-texts', label: `import of ${formatCount(SMALL_TEXTS)} small texts, elapsed`, unit: 'time' },
    { id: 'checkout-texts', label: 'checkout of them, elapsed', unit: 'time' },
    { id: 'checkout-fork', label: 'first command in a fork of them', unit: 'time' },
    { id: 'hook-space', label: `${formatCount(HOOK_RECORDS)} records of small edits`, unit: 'bytes' },
  ],
  targets: [
    ours.within(120 * MILLISECOND, `start-${largest}`, `true, in ${formatCount(largest)} files,`),
    ours.slowdown(
      `flat from ${formatCount(smallest)} to ${formatCount(largest)} files`,
      1.2,
      `start-${largest}`,
      `start-${smallest}`,
    ),
    ours.within(80 * MILLISECOND, 'enter-running', 'enter beside a command'),
    ours.within(80 * MILLISECOND, 'enter-kept', 'enter where nothing runs'),
    ...PROGRAMS.map(({ work, label }) => ours.atLeast(A_TENTH_LONGER, 'disk', work, label)),
    ours.within(50 * MILLISECOND, 'collect', 'collecting 10 changes'),
    ours.within(2 * MILLISECOND, 'key', 'a key there and back'),
    ours.speedup('CONNECT at least 0.5× a direct download', 0.5, 'proxy-tunnel', 'proxy-direct'),
    ours.speedup('plain HTTP at least 0.5× a direct download', 0.5, 'proxy-http', 'proxy-direct'),
    ours.atMost(0, 'proxy-left', 'descriptors left by the proxy'),
    ...HOOK_SIZES.map((size) =>
      ours.within(WATCHED_HOOK_LIMIT, `hook-watched-${size}`, `a hook in ${formatCount(size)} files`),
    ),
    ours.within(
      HOOK_LIMIT,
      `hook-${Math.max(...HOOK_SIZES)}`,
      `a hook in ${formatCount(Math.max(...HOOK_SIZES))} files without the watcher`,
    ),
    ours.within(200 * MILLISECOND, 'compare', `a comparison of ${COMPARED_FORKS} forks`),
    ours.atLeast(1 / APPLY_FACTOR, 'disk', 'apply', `apply of ${formatCount(APPLIED_FILES)} files`),
    ours.within(MERGE_SECONDS, 'apply-merge', `a merge of ${formatCount(MERGED_FILES)} files`),
    ours.atLeast(
      IMPORT_FACTOR,
      'git',
      'import',
      `import of ${formatCount(IMPORTED_FILES)} files (git add -A)`,
    ),
    ours.atMost(HOME_FACTOR, 'import-space', 'home of an import'),
    ours.atMost(INDEX_FACTOR, 'index-space', 'its home with an index'),
    ours.atLeast(1, 'git', 'checkout', `checkout of ${formatCount(IMPORTED_FILES)} files (git worktree add)`),
    ours.atLeast(
      IMPORT_FACTOR,
      'git',
      'import-texts',
      `import of ${formatCount(SMALL_TEXTS)} small texts (git add -A)`,
    ),
    ours.atLeast(
      1,
      'git',
      'checkout-texts',
      `checkout of ${formatCount(SMALL_TEXTS)} small texts (git worktree add)`,
    ),
    ours.below(HOOK_BYTES, 'hook-space', `${formatCount(HOOK_RECORDS)} records of small edits`),
  ],
  notes: [
    'Rows of coppice before the programs: what it takes more than `node -e 0`, both taken in turn. Build it first.',
    'unshare: an overlay mounted by a shell; bubblewrap: no overlay at all. Neither keeps anything.',
    'Keys: pty is a terminal without anything between, script is `script` of util-linux alone. Needs python3.',
    'Hooks: processor time of the process and the system; nothing changed since the last one.',
    'Applies: processor time, of disk that of `cp -a` with the same files. Merges: less what `node -e 0` takes.',
    'Vaults: processor time, but elapsed time for small texts; of git that of `git add -A` into a new repository, and of `git worktree add`.',
    'Programs tell their own time, so starting them does not count. Needs git, make, cc and npm, and socat and haproxy for their rows.',
  ],
  hasQuickForm: true,
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
