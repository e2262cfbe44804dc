import type { Home } from '../../../src/backends/vault/index.ts'
import { readText } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import type { VaultSize } from '../scale.ts'
import { measureMedian } from './median-time.ts'
import { createFileContent, getFilePath, uniqueName } from './vault-files.ts'
import { openFilledHome } from './vaults.ts'

const TIMES = 21

/** Fork, checkpoint and restore of vaults of three sizes, each after a write that nothing has stored as pages yet. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  await using home = await openFilledHome(recorder, settings)
  // The first use of anything is the compiler's.
  await measureSize(null, home, '1k')
  for (const size of ['1k', '100k', '1m'] as const) await measureSize(recorder, home, size)
}

async function measureSize(recorder: Recorder | null, home: Home, size: VaultSize): Promise<void> {
  recorder?.progress(`fork-${size}`)
  const vault = await home.fork(size, uniqueName(size, 'forks'))
  const change = (turn: number) => vault.write(getFilePath(turn), `turn ${turn}`)
  const fork = await measureMedian(TIMES, change, () => home.fork(vault.name, uniqueName(size, 'fork')))
  recorder?.note(`fork-${size}`, fork)

  const checkpoint = await measureMedian(TIMES, change, (_, turn) => vault.checkpoint(`turn-${turn}`))
  recorder?.note(`checkpoint-${size}`, checkpoint)

  const restore = await measureMedian(TIMES, change, () => vault.restore('turn-0'))
  recorder?.note(`restore-${size}`, restore)

  await assertText(vault, getFilePath(TIMES), createFileContent(TIMES))
  await assertText(vault, getFilePath(0), 'turn 0')
}

async function assertText(vault: Parameters<typeof readText>[0], path: string, text: string): Promise<void> {
  const found = await readText(vault, path)
  if (found !== text) throw new Error(`${path} has '${found}', expected '${text}'`)
}
