import type { Benchmark, SubjectEntry, Work } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'

const ours = new Targets('coppice')

const works: readonly Work[] = [
  { id: 'tar', label: 'tar x', unit: 'time' },
  { id: 'clone', label: 'git clone', unit: 'time' },
  { id: 'install', label: 'npm ci', unit: 'time' },
  { id: 'copy', label: 'cp -r', unit: 'time' },
  { id: 'grep', label: 'grep -r, warm', unit: 'time' },
  { id: 'find', label: 'find with stat, warm', unit: 'time' },
  { id: 'read', label: 'read of 64 MB, warm', unit: { throughput: 2 ** 26 } },
  { id: 'remove', label: 'rm -rf', unit: 'time' },
]

const serverWorks: readonly Work[] = [
  { id: 'find-server', label: 'processor time of this process in find¹', unit: 'time' },
  { id: 'read-server', label: 'processor time of this process in the read¹', unit: 'time' },
]

/** fuse-overlayfs changes files in place, without a history. */
const CHANGES: ReadonlySet<string> = new Set(['tar', 'copy', 'remove'])
/** A program in a vault may take this many times as long as on `nothing-kept`, our server without a store. */
const STORING_FACTOR = 1.4

function subject(name: string): SubjectEntry {
  return { name, parts: [{ name: 'programs', module: new URL(`./subjects/${name}.ts`, import.meta.url) }] }
}

/** Programs in a mounted vault, beside the same on the disk and on file systems in C that only pass everything on. */
export const fuse: Benchmark = {
  name: 'fuse',
  summary: 'programs in a mounted vault',
  subjects: [
    subject('coppice'),
    subject('least'),
    subject('nothing-kept'),
    subject('disk'),
    subject('bindfs'),
    subject('fuse-overlayfs'),
  ],
  works: [...works, ...serverWorks],
  targets: works.flatMap(({ id, label }) => [
    ours.atLeast(1, 'bindfs', id, label),
    ours.atLeast(CHANGES.has(id) ? 0.8 : 1, 'fuse-overlayfs', id, label),
    ours.atLeast(Math.round(100 / STORING_FACTOR) / 100, 'nothing-kept', id, label),
  ]),
  notes: [
    'Files are those of node_modules/zod, several times over. Needs root and /dev/fuse.',
    '¹ It serves the mounts of coppice, least and nothing-kept; the others have servers of their own.',
    'nothing-kept: our server with maps in place of a vault. What it takes is the way to the kernel and back.',
    'least: the same, with each change in the side log and the rows of a vault. No vault can take less.',
  ],
  hasQuickForm: true,
}
