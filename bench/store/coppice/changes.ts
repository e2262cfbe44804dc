import type { Home, Vault } from '../../../src/backends/vault/index.ts'
import { readText } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { chooseScale, type VaultSize } from '../scale.ts'
import { measureMedian } from './median-time.ts'
import { getFilePath, spreadIndexes, uniqueName } from './vault-files.ts'
import { openFilledHome } from './vaults.ts'

const DIFF_TIMES = 11
const DIFF_CHANGES = 10
const MERGE_TIMES = 5
const MERGE_CHANGES = 100

/** Diffs of a few changes and a merge of two forks, the changes spread over the whole vault. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { vaultFiles } = chooseScale(settings)
  await using home = await openFilledHome(recorder, settings)
  await timeDiff(home, '1k', vaultFiles['1k'])
  for (const size of ['10k', '1m'] as const) {
    recorder.progress(`diff-${size}`)
    recorder.note(`diff-${size}`, await timeDiff(home, size, vaultFiles[size]))
  }
  await timeMerge(home, '10k', vaultFiles['10k'])
  recorder.progress('merge')
  recorder.note('merge', await timeMerge(home, '1m', vaultFiles['1m']))
}

async function timeDiff(home: Home, size: VaultSize, files: number): Promise<number> {
  const changed = spreadIndexes(DIFF_CHANGES, files)
  return measureMedian(
    DIFF_TIMES,
    () => forkWithChanges(home, size, size, changed, 'diff'),
    async (fork) => {
      let changes = 0
      for await (const { kind } of fork.diff()) if (kind === 'modified') changes++
      if (changes !== DIFF_CHANGES) throw new Error(`the diff has ${changes} changes`)
    },
  )
}

/** Both merges: the first finds the target as it was, the second with the changes of the first. */
async function timeMerge(home: Home, size: VaultSize, files: number): Promise<number> {
  const [one, other] = [spreadIndexes(MERGE_CHANGES, files), spreadIndexes(MERGE_CHANGES, files, 1)]
  return measureMedian(
    MERGE_TIMES,
    async () => {
      const target = await home.fork(size, uniqueName(size, 'merge'))
      const first = await forkWithChanges(home, target.name, size, one, 'first')
      const second = await forkWithChanges(home, target.name, size, other, 'second')
      return { target, first, second }
    },
    async ({ target, first, second }) => {
      await home.merge(first.name, target.name)
      await home.merge(second.name, target.name)
      await assertMerged(target, one.at(-1), 'first')
      await assertMerged(target, other.at(-1), 'second')
    },
  )
}

async function forkWithChanges(
  home: Home,
  source: string,
  size: VaultSize,
  changed: readonly number[],
  text: string,
): Promise<Vault> {
  const fork = await home.fork(source, uniqueName(size, text))
  await Promise.all(changed.map((index) => fork.write(getFilePath(index), `${text} ${index}`)))
  return fork
}

async function assertMerged(vault: Vault, index = 0, text = ''): Promise<void> {
  const found = await readText(vault, getFilePath(index))
  if (found !== `${text} ${index}`) throw new Error(`after the merge, ${getFilePath(index)} has '${found}'`)
}
