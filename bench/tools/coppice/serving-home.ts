import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../../harness/benchmark.ts'

/** Outputs are returned in full, as the peer does; cached ones would differ. */
const CONFIG = '[tools]\ntool_output_cache_threshold = 1_000_000\n'

/** Creates the directory of a home for a server, unless there is one. */
export function prepareServingHome({ directory }: Settings, name: string): { path: string; isNew: boolean } {
  const path = join(directory, name)
  if (existsSync(path)) return { path, isNew: false }
  mkdirSync(path)
  writeFileSync(join(path, 'config.toml'), CONFIG)
  return { path, isNew: true }
}
