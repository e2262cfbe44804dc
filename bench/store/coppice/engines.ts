import { open, rm } from 'node:fs/promises'
import { type EngineName, openHome, type Vault } from '../../../src/backends/vault/index.ts'
import { readFile } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { WarmUpRecorder } from '../../harness/recorder.ts'
import { type CorpusFile, createTextFiles, listDirectories } from '../../vfs/corpus.ts'
import { engines } from '../engines.ts'
import { chooseScale } from '../scale.ts'

const KIB = 1024
const HEAP_LOOKS = 100

/** Awaited writes on each engine, what our own part of them takes, and the memory of a long process on LevelDB. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { textFiles: count, slowTextFiles } = chooseScale(settings)
  for (const engine of ['memory', ...engines] as const) {
    const files = createTextFiles(engine === 'memory' || engine === 'sqlite' ? count : slowTextFiles)
    await measureWrites(new WarmUpRecorder(), settings, engine, files.slice(0, files.length / 2))
    await measureWrites(recorder, settings, engine, files)
  }
  await measureSyncedAppends(recorder, settings, slowTextFiles)
  await measureLongProcess(recorder, settings, createTextFiles(count))
}

async function measureWrites(
  recorder: Recorder,
  settings: Settings,
  engine: EngineName,
  files: readonly CorpusFile[],
): Promise<void> {
  let volume = await openVolume(settings, engine, files)
  await recorder.record(`write-${engine}`, {
    operations: files.length,
    expected: files.length,
    prepare: async () => {
      await volume[Symbol.asyncDispose]()
      volume = await openVolume(settings, engine, files)
    },
    pass: async () => {
      for (const { path, bytes } of files) await volume.vault.write(path, bytes)
      return files.length
    },
  })
  await volume[Symbol.asyncDispose]()
}

/** The least that LMDB and LevelDB need: a sync of the disk before each commit is acknowledged. */
async function measureSyncedAppends(recorder: Recorder, settings: Settings, count: number): Promise<void> {
  const path = `${settings.directory}/appended-${process.pid}`
  await using file = await open(path, 'w')
  const bytes = new Uint8Array(KIB).fill(1)
  await recorder.record('synced-append', {
    operations: count,
    expected: count,
    pass: async () => {
      for (let done = 0; done < count; done++) {
        await file.write(bytes)
        await file.datasync()
      }
      return count
    },
  })
}

/** Writes, reads, renames and removes all files, one by one, and notes the largest heap on the way. */
async function measureLongProcess(
  recorder: Recorder,
  settings: Settings,
  files: readonly CorpusFile[],
): Promise<void> {
  recorder.progress('level-heap')
  await using volume = await openVolume(settings, 'level', files)
  const { vault } = volume
  let peak = 0
  const steps: readonly ((file: CorpusFile) => Promise<unknown>)[] = [
    ({ path, bytes }) => vault.write(path, bytes),
    ({ path }) => readFile(vault, path),
    ({ path }) => vault.rename(path, `${path}-renamed`),
    ({ path }) => vault.remove(`${path}-renamed`),
  ]
  for (const step of steps) {
    for (const [index, file] of files.entries()) {
      await step(file)
      if (index % HEAP_LOOKS === 0) peak = Math.max(peak, process.memoryUsage().heapUsed)
    }
  }
  recorder.note('level-heap', peak)
}

interface EngineVolume extends AsyncDisposable {
  readonly vault: Vault
}

let volumes = 0

async function openVolume(
  { directory }: Settings,
  engine: EngineName,
  files: readonly CorpusFile[],
): Promise<EngineVolume> {
  const path = `${directory}/engine-${process.pid}-${++volumes}`
  const home = await openHome({ path, engine })
  const vault = await home.createVault('vault')
  for (const parent of listDirectories(files)) await vault.mkdir(parent)
  return {
    vault,
    [Symbol.asyncDispose]: async () => {
      await home.close()
      await rm(path, { recursive: true, force: true })
    },
  }
}
