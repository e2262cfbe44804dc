import type { Recorder, Task } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'

const DIRECTORIES = 100

/** Names in a volume: each call is one change, awaited before the next. */
export interface NamesVolume extends AsyncDisposable {
  mkdir(path: string): void | Promise<void>
  rename(from: string, to: string): void | Promise<void>
  remove(path: string): void | Promise<void>
}

export interface NamesSubject {
  /** A new volume with empty files of these names in these directories. */
  open(directories: readonly string[], files: readonly string[]): Promise<NamesVolume>
}

/** Directories made, files renamed and removed, one by one; once in small to warm up, then for the record. */
export async function measureNames(recorder: Recorder, subject: NamesSubject, count: number): Promise<void> {
  await runWorks(new WarmUpRecorder(), subject, Math.ceil(count / 10))
  await runWorks(recorder, subject, count)
}

async function runWorks(recorder: Recorder, subject: NamesSubject, count: number): Promise<void> {
  const directories = Array.from({ length: DIRECTORIES }, (_, index) => `/dir-${index}`)
  const names = Array.from({ length: count }, (_, index) => `/dir-${index % DIRECTORIES}/name-${index}`)
  const change = async (
    work: string,
    files: readonly string[],
    run: (volume: NamesVolume, path: string) => void | Promise<void>,
  ) => {
    let volume = await subject.open(directories, files)
    const task: Task = {
      operations: count,
      expected: count,
      prepare: async () => {
        await volume[Symbol.asyncDispose]()
        volume = await subject.open(directories, files)
      },
      pass: async () => {
        for (const path of names) await run(volume, path)
        return names.length
      },
    }
    await recorder.record(work, task)
    await volume[Symbol.asyncDispose]()
  }
  await change('mkdir', [], (volume, path) => volume.mkdir(path))
  await change('rename-file', names, (volume, path) => volume.rename(path, `${path}-renamed`))
  await change('remove-file', names, (volume, path) => volume.remove(path))
}
