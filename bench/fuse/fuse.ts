import type { Benchmark, SubjectEntry, Target } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'

const ours = new Targets('coppice')

/** Ours may take so many times as long as the plain disk. */
function within(factor: number, work: string, label: string): Target {
  return ours.atLeast(shareOf(factor), 'disk', work, label)
}

/** For changes of files, it must also be faster than both peers. */
function withinAndAhead(factor: number, work: string, label: string): readonly Target[] {
  const peers = ['bindfs', 'fuse-overlayfs']
  return [within(factor, work, label), ...peers.map((peer) => ours.atLeast(1, peer, work, label))]
}

/** How fast something is that takes so many times as long, in figures for people. */
function shareOf(factor: number): number {
  return Math.round(100 / factor) / 100
}

function subject(name: string): SubjectEntry {
  return { name, parts: [{ name: 'programs', module: new URL(`./subjects/${name}.ts`, import.meta.url) }] }
}

/** Programs in a mounted vault, beside the same on the disk and on file systems in C that only pass everything on. */
export const fuse: Benchmark = {
  name: 'fuse',
  summary: 'programs in a mounted vault',
  subjects: [
    subject('coppice'),
    subject('nothing-kept'),
    subject('disk'),
    subject('bindfs'),
    subject('fuse-overlayfs'),
  ],
  works: [
    { id: 'tar', label: 'tar x', unit: 'time' },
    { id: 'clone', label: 'git clone', unit: 'time' },
    { id: 'install', label: 'npm ci', unit: 'time' },
    { id: 'copy', label: 'cp -r', unit: 'time' },
    { id: 'grep', label: 'grep -r, warm', unit: 'time' },
    { id: 'find', label: 'find with stat, warm', unit: 'time' },
    { id: 'read', label: 'read of 64 MB, warm', unit: { throughput: 2 ** 26 } },
    { id: 'remove', label: 'rm -rf', unit: 'time' },
  ],
  targets: [
    ...withinAndAhead(1.5, 'tar', 'tar x'),
    ...withinAndAhead(1.5, 'clone', 'git clone'),
    ...withinAndAhead(2, 'install', 'npm ci'),
    ...withinAndAhead(2, 'copy', 'cp -r'),
    ...withinAndAhead(2, 'remove', 'rm -rf'),
    within(1.5, 'grep', 'warm grep -r'),
    within(1.5, 'find', 'warm find'),
    within(1.5, 'read', 'warm read'),
  ],
  notes: [
    'Files are those of node_modules/zod, several times over. Needs root and /dev/fuse.',
    'nothing-kept: our server with maps in place of a vault. What it takes is the way to the kernel and back.',
  ],
  hasQuickForm: true,
}
