import { openHome } from '../../../src/backends/vault/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { type CorpusFile, createTextFiles, listDirectories } from '../../vfs/corpus.ts'
import { BareRows } from '../least/rows.ts'
import { chooseScale } from '../scale.ts'

type Turn = 'alone' | 'in turn'

/**
 * A commit of SQLite, and a write on the engine in memory, as processor time: each alone, and in turn. In turn, each
 * finds the processor's caches full of the other, which is what a write on the SQLite engine is.
 */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const files = createTextFiles(chooseScale(settings).textFiles)
  recorder.progress('commit-alone')
  recorder.note('commit-alone', (await measureTurns(settings, files, 'alone', false)).commit)
  recorder.note('part-alone', (await measureTurns(settings, files, 'alone', true)).part)
  const { commit, part } = await measureTurns(settings, files, 'in turn', true)
  recorder.note('commit-in-turn', commit)
  recorder.note('part-in-turn', part)
}

let tables = 0

/** Seconds of each. The first half of the files warms up. */
async function measureTurns(
  { directory }: Settings,
  files: readonly CorpusFile[],
  turn: Turn,
  writes: boolean,
): Promise<{ readonly commit: number; readonly part: number }> {
  using rows = new BareRows(`${directory}/turns-${process.pid}-${++tables}.db`)
  await using home = await openHome({ engine: 'memory' })
  const vault = await home.createVault('vault')
  for (const parent of listDirectories(files)) await vault.mkdir(parent)
  let [commit, part] = [0, 0]
  for (const [index, { path, bytes }] of files.entries()) {
    if (index === Math.floor(files.length / 2)) [commit, part] = [0, 0]
    if (writes) part += await spend(() => vault.write(path, bytes))
    if (turn === 'in turn' || !writes) commit += await spend(() => rows.commit('write', path, bytes))
  }
  const counted = files.length - Math.floor(files.length / 2)
  return { commit: commit / counted, part: part / counted }
}

/** Returns the processor time of some work in seconds. */
async function spend(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1e6
}
