import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { median } from '../../harness/statistics.ts'
import { listDirectories } from '../../vfs/corpus.ts'
import { chooseScale } from '../scale.ts'
import { createSearchedFiles, RARE, RARE_MATCHES } from '../searched-files.ts'

const TIMES = 7
const WRITES_AT_ONCE = 100
const run = promisify(execFile)

/** ripgrep on the same files on disk, all in the page cache; the start of its process included. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  if (!(await isInstalled())) {
    recorder.skip('grep', 'no rg here')
    return
  }
  const directory = await exportTree(recorder, settings)
  recorder.progress('grep')
  const seconds: number[] = []
  for (let turn = 0; turn < TIMES; turn++) {
    const startedAt = performance.now()
    const { stdout } = await run('rg', ['--no-config', '--fixed-strings', '--line-number', RARE, directory])
    seconds.push((performance.now() - startedAt) / 1000)
    if (stdout.trim().split('\n').length !== RARE_MATCHES) throw new Error(`ripgrep found: ${stdout}`)
  }
  recorder.note('grep', median(seconds))
}

async function isInstalled(): Promise<boolean> {
  try {
    await run('rg', ['--version'])
    return true
  } catch {
    return false
  }
}

async function exportTree(recorder: Recorder, settings: Settings): Promise<string> {
  const directory = `${settings.directory}/exported`
  if (existsSync(directory)) return directory
  const files = createSearchedFiles(chooseScale(settings).searchedFiles)
  recorder.progress(`writing ${files.length} files to disk`)
  for (const path of listDirectories(files)) await mkdir(`${directory}.new${path}`, { recursive: true })
  for (let done = 0; done < files.length; done += WRITES_AT_ONCE) {
    const batch = files.slice(done, done + WRITES_AT_ONCE)
    await Promise.all(batch.map(({ path, bytes }) => writeFile(`${directory}.new${path}`, bytes)))
  }
  await rename(`${directory}.new`, directory)
  return directory
}
