import type { Target } from '../harness/benchmark.ts'
import { Targets } from '../harness/targets.ts'
import { CONNECT_SECONDS } from './connect.ts'

const coppice = new Targets('coppice')
const PEER = 'server-filesystem'
const HELD_BYTES = 50e6

/** Promises of the tools, measured in the same run. */
export const targets: readonly Target[] = [
  coppice.slowdown('guarded read in memory at most 1.3×', 1.3, 'read-memory-guarded', 'read-memory'),
  coppice.slowdown('guarded read in a vault at most 1.3×', 1.3, 'read-vault-guarded', 'read-vault'),
  ...['read', 'write', 'list', 'edit'].map((work) => coppice.atLeast(1, PEER, `mcp-${work}`, work)),
  coppice.atLeast(5, PEER, 'mcp-search', 'search'),
  coppice.within(CONNECT_SECONDS, 'mcp-connect', 'connected'),
  ...['keep', 'file_head', 'file_tail', 'file_lines', 'file_grep'].map((work) =>
    coppice.below(HELD_BYTES, `cache-${work}`, `${work} of 100 MiB`),
  ),
]
