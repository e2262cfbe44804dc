import type { Benchmark, SubjectEntry, Work } from '../harness/benchmark.ts'
import { LARGE_FILE_UNIT } from './large-file.ts'
import { targets } from './targets.ts'

/** Coppice's file system in memory, through a mount table, against its peers and the disk. */
export const vfs: Benchmark = {
  name: 'vfs',
  summary: 'MemoryFs in a MountTable against just-bash, memfs, zenfs and node:fs on disk',
  subjects: [
    subject('coppice', 'cold'),
    subject('just-bash', 'cold'),
    createColdSubject('just-bash-copied'),
    subject('memfs'),
    subject('zenfs'),
    subject('node-disk'),
  ],
  works: [
    rate('write', 'write 1 KiB'),
    rate('read', 'read 1 KiB'),
    rate('cold-write', 'write 1 KiB, new process⁵'),
    rate('cold-read', 'read 1 KiB, new process⁵'),
    rate('stat', 'stat'),
    rate('readdir', 'readdir, 100 entries'),
    rate('walk', 'walk, files¹'),
    rate('grep', 'grep line by line, files²'),
    rate('grep-file-first', 'grep file by file, files²'),
    { id: 'large-write', label: 'write 100 MiB in chunks³', unit: { throughput: LARGE_FILE_UNIT } },
    { id: 'large-read', label: 'read 100 MiB in chunks³', unit: { throughput: LARGE_FILE_UNIT } },
    { id: 'fork-1k', label: 'fork 1,000 files⁴', unit: 'time' },
    { id: 'fork-100k', label: 'fork 100,000 files⁴', unit: 'time' },
    { id: 'fork-100k-write', label: 'fork 100,000, write one⁴', unit: 'time' },
    rate('dispatch-1', 'stat through 1 mount'),
    rate('dispatch-10', 'stat through 10 mounts'),
    rate('dispatch-100', 'stat through 100 mounts'),
  ],
  targets,
  notes: [
    'Small files: 10,000 of 1 KiB (zenfs 2,000, it is the slowest), 100 in each directory, one call after the other.',
    'just-bash stores the array it is given and hands out the array it stores; the others copy.',
    '¹ 100,000 files; 2,000 on zenfs and node-disk, where making them takes too long. just-bash: getAllPaths and stat.',
    '² The small files, one in a hundred matches. Peers read each file as text and test each line; file by file, they',
    '  test the whole text first and split only where it matches. coppice does the same both times: its grep.',
    '³ just-bash has no streams: the chunks are joined, and it reads by handing out its own array.',
    '⁴ Peers cannot fork: what they show is a deep copy, in the fastest way their API allows.',
    '⁵ 10,000 files in a process that did nothing before; processor time. No mount table. just-bash-copied copies in and out.',
  ],
}

function subject(name: string, ...more: readonly 'cold'[]): SubjectEntry {
  const module = new URL(`./subjects/${name}.ts`, import.meta.url)
  return { name, parts: [{ name: 'all', module }, ...more.flatMap(() => createColdSubject(name).parts)] }
}

function createColdSubject(name: string): SubjectEntry {
  return { name, parts: [{ name: 'cold', module: new URL(`./subjects/${name}-cold.ts`, import.meta.url) }] }
}

function rate(id: string, label: string): Work {
  return { id, label, unit: 'rate' }
}
