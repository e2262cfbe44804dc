import { adapters } from './adapters/adapters.ts'
import { exec } from './exec/exec.ts'
import { fuse } from './fuse/fuse.ts'
import type { Benchmark } from './harness/benchmark.ts'
import { kernel } from './kernel/kernel.ts'
import { policy } from './policy/policy.ts'
import { remote } from './remote/remote.ts'
import { store } from './store/store.ts'
import { tools } from './tools/tools.ts'
import { ui } from './ui/ui.ts'
import { persistentMap } from './vfs/persistent-map.ts'
import { vfs } from './vfs/vfs.ts'

/** Every benchmark there is. */
export const benchmarks: readonly Benchmark[] = [
  vfs,
  persistentMap,
  store,
  remote,
  tools,
  policy,
  fuse,
  exec,
  kernel,
  ui,
  adapters,
]
