import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Recorder, Settings } from '../../harness/benchmark.ts'

const SCRIPT = fileURLToPath(new URL('../../../test/support/look-into-output.ts', import.meta.url))
const STEPS: readonly string[] = ['keep', 'file_head', 'file_tail', 'file_lines', 'file_grep']
const MIB = 1024 ** 2
/** A small nursery is collected often: what is held counts, not what waits to be collected. */
const FLAGS: readonly string[] = [
  '--conditions=coppice-source',
  '--no-warnings',
  '--expose-gc',
  '--max-semi-space-size=1',
]

/** How much is held while a large output is kept in a vault and looked into: the script of the tests says it. */
export async function measure(recorder: Recorder, { directory }: Settings): Promise<void> {
  if (process.platform !== 'linux') {
    for (const step of STEPS) recorder.skip(`cache-${step}`, 'needs Linux')
    return
  }
  recorder.progress('cache')
  const home = await mkdtemp(`${directory}/cache-`)
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, SCRIPT, 'vault', home])
  const held: Record<string, number> = JSON.parse(stdout)
  for (const step of STEPS) recorder.note(`cache-${step}`, Math.max(0, held[step] ?? Number.NaN) * MIB)
}
