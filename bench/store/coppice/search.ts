import { existsSync } from 'node:fs'
import type { Vault } from '../../../src/backends/vault/index.ts'
import { type FileSystem, grep, isSearchable } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { chooseScale } from '../scale.ts'
import { createSearchedFiles, RARE, RARE_MATCHES } from '../searched-files.ts'
import { openBenchHome } from './homes.ts'
import { measureMedian } from './median-time.ts'
import { WithoutSearch } from './without-search.ts'

const TIMES = 7
const WRITES_AT_ONCE = 1000

/** A rare word, looked for by the vault itself and by reading every file. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const directory = `${settings.directory}/searched`
  const isFilled = existsSync(directory)
  await using home = await openBenchHome(settings, directory)
  if (!isFilled) await fill(recorder, await home.createVault('vault'), chooseScale(settings).searchedFiles)
  const vault = await home.vault('vault')
  recorder.progress('grep-scan')
  recorder.note('grep-scan', await timeGrep(new WithoutSearch(vault), 1))
  if (!isSearchable(vault)) {
    for (const work of ['grep-first', 'grep']) recorder.skip(work, 'not yet')
    return
  }
  recorder.progress('grep')
  recorder.note('grep-first', await timeGrep(vault, 1))
  recorder.note('grep', await timeGrep(vault, TIMES))
}

async function timeGrep(fs: FileSystem, times: number): Promise<number> {
  return measureMedian(
    times,
    async () => {},
    async () => {
      let found = 0
      for await (const { text } of grep(fs, '/', RARE)) if (text.includes(RARE)) found++
      if (found !== RARE_MATCHES) throw new Error(`found ${found} of ${RARE_MATCHES}`)
    },
  )
}

async function fill(recorder: Recorder, vault: Vault, count: number): Promise<void> {
  const files = createSearchedFiles(count)
  recorder.progress(`filling a vault with ${count} files to search`)
  for (let done = 0; done < count; done += WRITES_AT_ONCE) {
    const batch = files.slice(done, done + WRITES_AT_ONCE)
    await Promise.all(batch.map(({ path, bytes }) => vault.write(path, bytes)))
  }
}
