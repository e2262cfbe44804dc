import type { Benchmark } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'
import { MIB } from './sizes.ts'

const targets = new Targets('coppice')

/** A home in PostgreSQL against rows that are inserted with the same client, on a server of its own. */
export const remote: Benchmark = {
  name: 'remote',
  summary: 'a home in PostgreSQL against bare inserts',
  subjects: [
    {
      name: 'coppice',
      parts: [
        { name: 'writes', module: new URL('./coppice-writes.ts', import.meta.url) },
        { name: 'reads', module: new URL('./coppice-reads.ts', import.meta.url) },
        { name: 'machines', module: new URL('./coppice-machines.ts', import.meta.url) },
        { name: 'objects', module: new URL('./coppice-objects.ts', import.meta.url) },
      ],
    },
    { name: 's3', parts: [{ name: 'objects', module: new URL('./s3-objects.ts', import.meta.url) }] },
    { name: 'least', parts: [{ name: 'writes', module: new URL('./least-writes.ts', import.meta.url) }] },
    {
      name: 'pg',
      parts: [
        { name: 'writes', module: new URL('./pg-writes.ts', import.meta.url) },
        { name: 'machines', module: new URL('./pg-machines.ts', import.meta.url) },
      ],
    },
  ],
  works: [
    { id: 'commit', label: 'new files of 200 bytes, one after the other', unit: 'rate' },
    { id: 'commit-process', label: "the same, durability 'process'", unit: 'rate' },
    { id: 'content', label: 'new files of 1 KiB, one after the other', unit: 'rate' },
    { id: 'files', label: 'new files of 1 KiB, 100 in flight', unit: 'rate' },
    { id: 'stat', label: 'warm stat', unit: 'rate' },
    { id: 'stat-local', label: 'warm stat, local home', unit: 'rate' },
    { id: 'walk', label: 'cold walk of 10,000 files, 1 ms more for each statement', unit: 'time' },
    { id: 'fork-trips', label: 'trips of a fork', unit: 'times' },
    { id: 'machine', label: 'commits of one machine', unit: 'rate' },
    { id: 'machines', label: 'commits of 4 machines, own forks each', unit: 'rate' },
    { id: 'far', label: 'commits of one machine, 1 ms more for each statement', unit: 'rate' },
    { id: 'all-far', label: 'commits of 4 machines, 1 ms more for each statement', unit: 'rate' },
    { id: 'leased', label: 'small writes, leased vault', unit: 'rate' },
    { id: 'local', label: 'small writes, local home', unit: 'rate' },
    { id: 's3-in', label: 'stream 256 MiB to S3', unit: { throughput: MIB } },
    { id: 's3-out', label: 'stream 256 MiB from S3', unit: { throughput: MIB } },
    { id: 'idle-rows', label: 'rows that 50 idle vaults add', unit: 'times' },
    { id: 'idle-connections', label: 'connections of an idle home', unit: 'times' },
  ],
  targets: [
    targets.atLeast(0.6, 'pg', 'commit', 'commit one operation'),
    targets.atLeast(0.6, 'pg', 'commit-process', "commit one operation, durability 'process'"),
    targets.perSecond(15_000, 'files', 'files, 100 in flight'),
    targets.slowdown('warm stat at least 0.8× a local home', 1 / 0.8, 'stat', 'stat-local'),
    targets.within(0.6, 'walk', 'cold walk'),
    targets.atMost(2, 'fork-trips', 'trips of a fork'),
    targets.speedup('4 machines at least 3× the commits of one', 3, 'machines', 'machine'),
    targets.speedup('4 machines on a network at least 3× the commits of one', 3, 'all-far', 'far'),
    targets.slowdown('writes in a leased vault within 1.2× a local home', 1.2, 'leased', 'local'),
    targets.atLeast(0.7, 's3', 's3-in', 'stream to S3'),
    targets.atLeast(0.7, 's3', 's3-out', 'stream from S3'),
    targets.atMost(0, 'idle-rows', 'rows of idle vaults'),
    targets.atMost(0, 'idle-connections', 'connections of an idle home'),
  ],
  notes: [
    'Machines share the cores of this one with the database. With 1 ms for the network they wait, as they would elsewhere.',
    'Trips of a fork do not depend on its files: they are counted on the vault of the walk.',
    'PostgreSQL on a unix socket of this machine, which waits for its disk at every commit.',
    's3: the client alone, objects of 8 MiB on s3rver, four in flight on the way in.',
    'least: the function that commits, called with journal rows of the same size, without a vault.',
    'pg: one row of the same size for each file, prepared, on six connections where many are in flight; machines insert into tables of their own.',
  ],
  hasQuickForm: true,
}
