import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Home, type HomeOptions, openHome } from '../../../src/backends/vault/index.ts'
import type { Settings } from '../../harness/benchmark.ts'
import { engines } from '../engines.ts'

export type Durability = NonNullable<HomeOptions['durability']>

/** A home on disk, with the engine of the run. */
export function openBenchHome(
  { engine: wanted }: Settings,
  path: string,
  durability: Durability = 'process',
): Promise<Home> {
  const engine = engines.find((name) => name === wanted)
  if (engine === undefined) throw new Error(`no engine '${wanted}'`)
  return openHome({ path, engine, durability })
}

/** Counts the bytes of the files below a directory; of a closed home, all it has written. */
export async function bytesOnDisk(directory: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}
