import type { Benchmark } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'

/** A home in PostgreSQL against rows that are inserted with the same client, on a server of its own. */
export const remote: Benchmark = {
  name: 'remote',
  summary: 'a home in PostgreSQL against bare inserts',
  subjects: [
    { name: 'coppice', parts: [{ name: 'writes', module: new URL('./coppice-writes.ts', import.meta.url) }] },
    { name: 'pg', parts: [{ name: 'writes', module: new URL('./pg-writes.ts', import.meta.url) }] },
  ],
  works: [
    { id: 'commit', label: 'new files of 200 bytes, one after the other', unit: 'rate' },
    { id: 'content', label: 'new files of 1 KiB, one after the other', unit: 'rate' },
    { id: 'files', label: 'new files of 1 KiB, 100 in flight', unit: 'rate' },
  ],
  targets: [new Targets('coppice').atLeast(0.6, 'pg', 'commit', 'commit one operation')],
  notes: [
    'PostgreSQL on a unix socket of this machine, which waits for its disk at every commit.',
    'pg: one row of the same size for each file, prepared, on six connections where many are in flight.',
  ],
  hasQuickForm: true,
}
