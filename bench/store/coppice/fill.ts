import { setImmediate } from 'node:timers/promises'
import type { Vault } from '../../../src/backends/vault/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { chooseScale, type VaultSize } from '../scale.ts'
import { openBenchHome } from './homes.ts'
import { createFileContent, getFilePath } from './vault-files.ts'
import { getHomePath } from './vaults.ts'

const WRITES_AT_ONCE = 1000

/** Makes the home with the vaults of all sizes. Not a part of its own: the first part that needs it runs it. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { vaultFiles } = chooseScale(settings)
  await using home = await openBenchHome(settings, getHomePath(settings))
  const fillVault = async (size: VaultSize) =>
    fill(recorder, await home.createVault(size), vaultFiles[size], `filling a vault of ${size} files`)
  for (const size of ['1k', '10k', '100k'] as const) await fillVault(size)
  const startedAt = performance.now()
  await fillVault('1m')
  recorder.note('fill', (performance.now() - startedAt) / 1000 / vaultFiles['1m'])
}

async function fill(recorder: Recorder, vault: Vault, files: number, task: string): Promise<void> {
  for (let done = 0; done < files; done += WRITES_AT_ONCE) {
    recorder.progress(`${task} · ${Math.round((done / files) * 100)} %`)
    const size = Math.min(WRITES_AT_ONCE, files - done)
    const batch = Array.from({ length: size }, (_, index) => done + index)
    await Promise.all(batch.map((index) => vault.write(getFilePath(index), createFileContent(index))))
    // So that the progress is sent, and the end of the parent noticed.
    await setImmediate()
  }
}
