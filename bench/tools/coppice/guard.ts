import { contextCaller, guard, zonePolicy } from '../../../src/access/index.ts'
import { openHome } from '../../../src/backends/vault/index.ts'
import { type CallContext, type FileSystem, MemoryFs, readFile } from '../../../src/vfs/index.ts'
import type { Recorder, Settings, Task } from '../../harness/benchmark.ts'
import { WarmUpRecorder } from '../../harness/recorder.ts'
import { type CorpusFile, createTextFiles, totalBytes } from '../../vfs/corpus.ts'

const ctx: CallContext = { caller: contextCaller('alice') }

/** The same files read with and without the guard, in memory and in a vault. */
export async function measure(recorder: Recorder, { isQuick }: Settings): Promise<void> {
  const files = createTextFiles(isQuick ? 1000 : 10_000)
  await using home = await openHome({ engine: 'memory' })
  const vault = await home.createVault('guarded')
  const subjects: readonly (readonly [string, FileSystem])[] = [
    ['read-memory', new MemoryFs()],
    ['read-vault', vault],
  ]
  for (const [, fs] of subjects) for (const { path, bytes } of files) await fs.write(path, bytes)
  for (const round of [new WarmUpRecorder(), recorder]) {
    for (const [work, fs] of subjects) {
      await round.record(work, readTask(fs, files))
      await round.record(`${work}-guarded`, readTask(guard(fs, [zonePolicy()]), files))
    }
  }
}

function readTask(fs: FileSystem, files: readonly CorpusFile[]): Task {
  return {
    operations: files.length,
    expected: totalBytes(files),
    async pass() {
      let bytes = 0
      for (const { path } of files) bytes += (await readFile(fs, path, undefined, ctx)).length
      return bytes
    },
  }
}
