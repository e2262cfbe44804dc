import type { Target } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'

const coppice = new Targets('coppice')

/** Resident memory is counted in pages and arenas: less than this is the process breathing. */
const NO_GROWTH_BYTES = 16e6

/** Promises of the store, measured in the same run. */
export const targets: readonly Target[] = [
  coppice.atLeast(20, 'agentfs-sdk', 'write', 'write one by one'),
  coppice.atLeast(1.5, 'node-disk', 'write', 'write one by one'),
  coppice.atLeast(0.35, 'sqlite', 'write', 'write one by one'),
  coppice.atLeast(60, 'agentfs-sdk', 'write-together', 'write all at once'),
  coppice.atLeast(0.5, 'sqlite', 'write-together', 'write all at once'),
  ...['mkdir', 'rename-file', 'remove-file'].map((work) => coppice.atLeast(0.5, 'sqlite', work, work)),
  coppice.within(22e-6, 'write-memory', 'our own part of a write'),
  ...['lmdb', 'level'].flatMap((engine) => [
    coppice.speedup(`${engine} writes as fast as sqlite`, 1, `write-${engine}`, 'write-sqlite'),
    // Each of their commits is synced, whatever the durability: that is their limit.
    coppice.speedup(
      `${engine} writes at least half a synced append`,
      0.5,
      `write-${engine}`,
      'synced-append',
    ),
  ]),
  coppice.below(512e6, 'level-heap', 'heap of 40,000 operations on LevelDB'),
  coppice.atLeast(5, 'node-disk', 'read', 'read'),
  coppice.atLeast(3, 'node-disk', 'stat', 'stat'),
  coppice.atLeast(3, 'node-disk', 'readdir', 'readdir'),
  ...['read', 'stat', 'readdir'].map((work) => coppice.atLeast(25, 'agentfs-sdk', work, work)),
  coppice.below(NO_GROWTH_BYTES, 'memory', 'memory 20,000 operations leave behind'),
  coppice.atLeast(0.8, 'node-disk', 'large-write', 'stream in'),
  coppice.atLeast(0.9, 'node-disk', 'large-read', 'stream out'),
  coppice.atLeast(30, 'agentfs-sdk', 'large-write', 'stream in'),
  coppice.atLeast(5, 'agentfs-sdk', 'large-read', 'stream out'),
  coppice.perSecond(10_000, 'overwrite', 'overwrites of 4 KiB'),
  coppice.atMost(4, 'overwrite-growth', 'growth by overwrites'),
  ...['fork', 'checkpoint', 'restore'].flatMap((work) => [
    coppice.within(1e-3, `${work}-1m`, `${work} of 1 M files`),
    coppice.slowdown(`${work} of 1 M files at most 2× that of 1,000`, 2, `${work}-1m`, `${work}-1k`),
  ]),
  coppice.within(5e-3, 'diff-1m', 'diff of 10 changes at 1 M files'),
  coppice.slowdown('diff at 1 M files at most 2× that at 10,000', 2, 'diff-1m', 'diff-10k'),
  coppice.within(0.1, 'merge', 'merge of two forks at 1 M files'),
  coppice.within(2e-3, 'rename', 'rename of a directory of 100,000 files'),
  coppice.within(0.05, 'moment', 'one of 100,000 moments'),
  coppice.below(10e6, 'growth', '100 forks × 10 changes'),
  coppice.atMost(0.05, 'gc-rest', 'room of a deleted vault after gc, while the home is open,'),
  coppice.perSecond(300_000, 'walk', 'walk of 1 M files'),
  coppice.below(300e6, 'walk-memory', 'memory of the walk'),
  coppice.speedup('indexed grep at least 20× our own scan', 20, 'grep', 'grep-scan'),
  coppice.slowdown('the first grep at most 1.2× our own scan', 1.2, 'grep-first', 'grep-scan'),
  coppice.atLeast(1, 'node-disk', 'grep', 'indexed grep (ripgrep on disk)'),
  coppice.within(0.05, 'open', 'opening a home with 1 M files'),
]
