import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../../harness/benchmark.ts'

/** Answers are told whole, as the peer tells them: kept ones would be another answer. */
const CONFIG = '[tools]\ntool_output_cache_threshold = 1_000_000\n'

/** The directory of a home for a server, and whether it is new. */
export function servingHome({ directory }: Settings, name: string): { path: string; isNew: boolean } {
  const path = join(directory, name)
  if (existsSync(path)) return { path, isNew: false }
  mkdirSync(path)
  writeFileSync(join(path, 'config.toml'), CONFIG)
  return { path, isNew: true }
}
