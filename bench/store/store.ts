import type { Benchmark } from '../harness/benchmark.ts'
import { bytes, rate, subjectsOf, time } from '../harness/entries.ts'
import { LARGE_FILE_UNIT } from '../vfs/large-file.ts'
import { engines } from './engines.ts'
import { targets } from './targets.ts'

const subject = subjectsOf(import.meta.url)

/** Vaults on disk against the disk itself, AgentFS, and what SQLite can do at most. */
export const store: Benchmark = {
  name: 'store',
  summary: 'vaults on disk against node:fs/promises, agentfs-sdk and raw SQLite',
  subjects: [
    subject('coppice', {
      files: './coppice/files.ts',
      memory: './coppice/memory.ts',
      overwrites: './coppice/overwrites.ts',
      forks: './coppice/forks.ts',
      changes: './coppice/changes.ts',
      rename: './coppice/rename.ts',
      moments: './coppice/moments.ts',
      growth: './coppice/growth.ts',
      gc: './coppice/gc.ts',
      walk: './coppice/walk.ts',
      search: './coppice/search.ts',
      open: './coppice/open.ts',
    }),
    subject('coppice-full', { files: './coppice/files-full.ts' }),
    subject('node-disk', {
      files: './peers/disk-files.ts',
      memory: './peers/disk-memory.ts',
      forks: './peers/disk-sync.ts',
      search: './peers/ripgrep-search.ts',
    }),
    subject('agentfs-sdk', { files: './peers/agentfs-files.ts', memory: './peers/agentfs-memory.ts' }),
    subject('sqlite', { files: './peers/sqlite-files.ts' }),
  ],
  works: [
    rate('write', 'write 1 KiB, one by one¹'),
    rate('write-together', 'write 1 KiB, all at once¹'),
    rate('read', 'read 1 KiB'),
    rate('stat', 'stat'),
    rate('readdir', 'readdir, 100 entries'),
    bytes('memory', 'memory left by 20,000 operations'),
    { id: 'large-write', label: 'stream 256 MiB in²', unit: { throughput: LARGE_FILE_UNIT } },
    { id: 'large-read', label: 'stream 256 MiB out²', unit: { throughput: LARGE_FILE_UNIT } },
    rate('overwrite', 'overwrite 4 KiB of 256 MiB'),
    { id: 'overwrite-growth', label: 'growth / bytes overwritten', unit: 'times' },
    rate('fill', 'fill with 1 M files'),
    time('sync', 'write 16 KiB and fdatasync'),
    ...['fork', 'checkpoint', 'restore'].flatMap((work) => [
      time(`${work}-1k`, `${work} 1,000 files³`),
      time(`${work}-100k`, `${work} 100,000 files³`),
      time(`${work}-1m`, `${work} 1 M files³`),
    ]),
    time('diff-10k', 'diff 10 changes at 10,000 files'),
    time('diff-1m', 'diff 10 changes at 1 M files'),
    time('merge', 'merge 2 × 100 changes at 1 M files⁴'),
    time('rename', 'rename directory of 100,000 files'),
    time('moment', 'open one of 100,000 moments'),
    bytes('growth', '100 forks × 10 changes add'),
    { id: 'gc-rest', label: 'of a deleted vault, after gc', unit: 'times' },
    rate('walk', 'walk 1 M files'),
    bytes('walk-memory', 'walk 1 M files, peak memory'),
    time('grep', 'grep a rare word in 100,000 files⁵'),
    time('grep-first', 'grep it for the first time'),
    time('grep-scan', 'grep it by reading every file'),
    time('open', 'open home and vault, 1 M files, read⁶'),
  ],
  targets,
  engines,
  hasQuickForm: true,
  notes: [
    'Small files: 10,000 of 1 KiB (coppice-full and agentfs-sdk 2,000), 100 in each directory.',
    'coppice-full has durability full: every commit is on the disk before it resolves. agentfs-sdk syncs too; coppice',
    '(process), node-disk and sqlite (WAL, synchronous = NORMAL) leave that to the system.',
    '¹ sqlite: one transaction for each write; all in one transaction. No directories, no times, no history.',
    '² node-disk: createWriteStream and createReadStream. agentfs-sdk: 16 MiB, and as a whole on the way in.',
    '³ Medians of 21, each after a write that was not stored as pages yet. Checkpoint and restore are synced.',
    '⁴ Both merges together: the second finds the changes of the first.',
    '⁵ node-disk: ripgrep on the same files, in the page cache, its start included.',
    '⁶ In a new process; the system may have the file in its cache.',
  ],
}
