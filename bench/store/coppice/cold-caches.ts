import { openHome } from '../../../src/backends/vault/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { type CorpusFile, createTextFiles, listDirectories } from '../../vfs/corpus.ts'
import { BareRows } from '../least/rows.ts'
import { chooseScale } from '../scale.ts'

type Work = 'commit' | 'write'

/**
 * Measures the processor time of a commit in SQLite and of a write on the engine in memory: each alone, then in turn.
 * In turn, each finds the processor's caches full of the other's data, as in a write on the SQLite engine.
 */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = createTextFiles(chooseScale(settings).textFiles)
  recorder.progress('commit-alone')
  recorder.note('commit-alone', (await measureTurns(settings, files, ['commit'])).commit)
  recorder.note('part-alone', (await measureTurns(settings, files, ['write'])).write)
  const { commit, write } = await measureTurns(settings, files, ['commit', 'write'])
  recorder.note('commit-in-turn', commit)
  recorder.note('part-in-turn', write)
}

let tables = 0

/**
 * Returns the seconds of each work for one file, 0 for a work that is not done. The first half of the files warms up.
 */
async function measureTurns(
  { directory }: Settings,
  files: readonly CorpusFile[],
  works: readonly Work[],
): Promise<Readonly<Record<Work, number>>> {
  using rows = new BareRows(`${directory}/turns-${process.pid}-${++tables}.db`)
  await using home = await openHome({ engine: 'memory' })
  const vault = await home.createVault('vault')
  for (const parent of listDirectories(files)) await vault.mkdir(parent)
  let [commit, write] = [0, 0]
  for (const [index, { path, bytes }] of files.entries()) {
    if (index === Math.floor(files.length / 2)) [commit, write] = [0, 0]
    if (works.includes('write')) write += await measureProcessorTime(() => vault.write(path, bytes))
    if (works.includes('commit'))
      commit += await measureProcessorTime(() => rows.commit('write', path, bytes))
  }
  const counted = files.length - Math.floor(files.length / 2)
  return { commit: commit / counted, write: write / counted }
}

/** Returns the seconds of processor time that some work takes. */
async function measureProcessorTime(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e6
}
