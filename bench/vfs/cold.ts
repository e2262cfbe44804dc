import type { Recorder } from '../harness/benchmark.ts'
import { createTextFiles, listDirectories, totalBytes } from './corpus.ts'

const FILES = 10_000

/** The few methods of a volume that a cold process is measured with. */
export interface ColdVolume extends AsyncDisposable {
  readonly root: string
  mkdir(path: string): Promise<void>
  write(path: string, bytes: Uint8Array): Promise<void>
  read(path: string): Promise<Uint8Array>
}

/**
 * Writes and reads of a process that has just started: nothing is warmed up or repeated, so most calls are interpreted.
 * Counts the time of the main thread on the processor, which other work on the machine changes least.
 */
export async function measureCold(recorder: Recorder, open: () => ColdVolume): Promise<void> {
  await using volume = open()
  const files = createTextFiles(FILES).map(({ path, bytes }) => ({ path: volume.root + path, bytes }))
  for (const directory of listDirectories(files)) await volume.mkdir(directory)
  await note(recorder, 'cold-write', async () => {
    for (const { path, bytes } of files) await volume.write(path, bytes)
  })
  let bytes = 0
  await note(recorder, 'cold-read', async () => {
    for (const { path } of files) bytes += (await volume.read(path)).length
  })
  if (bytes !== totalBytes(files)) throw new Error(`read ${bytes} bytes, expected ${totalBytes(files)}`)
}

async function note(recorder: Recorder, work: string, run: () => Promise<void>): Promise<void> {
  recorder.progress(work)
  const before = process.threadCpuUsage()
  await run()
  const { user, system } = process.threadCpuUsage(before)
  recorder.note(work, (user + system) / 1e6 / FILES)
}
