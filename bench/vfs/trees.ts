import type { Recorder } from '../harness/benchmark.ts'
import { createTreeFiles, totalBytes } from './corpus.ts'
import { type Population, populate } from './populate.ts'
import type { Subject, Volume } from './volume.ts'

const SMALL_TREE = 1000
const LARGE_TREE = 100_000

/** A walk of a large tree, and duplicates of a small and a large one. */
export async function measureTrees(recorder: Recorder, subject: Subject, count: number): Promise<void> {
  {
    await using small = await populate(subject, createTreeFiles(Math.min(SMALL_TREE, count)))
    await measureDuplicate(recorder, 'fork-1k', subject, small)
  }
  await using large = await populate(subject, createTreeFiles(count))
  await measureWalk(recorder, large)
  if (count < LARGE_TREE) return
  await measureDuplicate(recorder, 'fork-100k', subject, large)
  if (subject.forks) await measureFirstWrite(recorder, subject, large)
}

async function measureWalk(recorder: Recorder, { volume, files }: Population): Promise<void> {
  const { bytes } = await volume.walk()
  if (bytes !== totalBytes(files)) throw new Error(`the walk saw ${bytes} bytes`)
  await recorder.record('walk', {
    operations: files.length,
    expected: files.length,
    pass: async () => (await volume.walk()).files,
  })
}

async function measureDuplicate(
  recorder: Recorder,
  work: string,
  { duplicatesPerPass }: Subject,
  { volume, files }: Population,
): Promise<void> {
  let last: Volume | undefined
  await recorder.record(work, {
    operations: duplicatesPerPass,
    expected: duplicatesPerPass,
    prepare: async () => last?.[Symbol.asyncDispose](),
    async pass() {
      for (let made = 0; made < duplicatesPerPass; made++) last = await volume.duplicate()
      return duplicatesPerPass
    },
  })
  const found = await last?.walk()
  if (found?.files !== files.length)
    throw new Error(`a duplicate has ${found?.files} of ${files.length} files`)
  await last?.[Symbol.asyncDispose]()
}

/** Measures the first write to a fork, which pays for what the fork put off: it shows that this is not the copy. */
async function measureFirstWrite(
  recorder: Recorder,
  { duplicatesPerPass }: Subject,
  { volume, files }: Population,
): Promise<void> {
  await recorder.record('fork-100k-write', {
    operations: duplicatesPerPass,
    expected: duplicatesPerPass,
    async pass() {
      for (const { path, bytes } of files.slice(0, duplicatesPerPass)) {
        const fork = await volume.duplicate()
        await fork.write(path, bytes)
      }
      return duplicatesPerPass
    },
  })
}
