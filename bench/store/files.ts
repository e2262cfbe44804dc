import type { Recorder } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'
import { createTextFiles } from '../vfs/corpus.ts'
import { LARGE_FILE_UNIT, measureLargeFile } from '../vfs/large-file.ts'
import { type Population, prepareVolume, verifyContent } from '../vfs/populate.ts'
import { readdirTask, readTask, statTask, writeAll } from '../vfs/small-files.ts'
import { generateDistinctChunks } from './chunks.ts'
import type { StoreSubject, StoreVolume } from './volume.ts'

/** Small files and a large one, once in small to warm up, then for the record. */
export async function measureFiles(recorder: Recorder, subject: StoreSubject): Promise<void> {
  const warmUp = new WarmUpRecorder()
  await measureSmallFiles(warmUp, subject, subject.warmUpFiles)
  await measureLargeFile(warmUp, subject, LARGE_FILE_UNIT, generateDistinctChunks)
  await measureSmallFiles(recorder, subject, subject.textFiles)
  await measureLargeFile(recorder, subject, subject.largeFileBytes, generateDistinctChunks)
}

/** Files of 1 KiB, a hundred in each directory: written one by one, all at once, then read, stat and listed. */
async function measureSmallFiles(recorder: Recorder, subject: StoreSubject, count: number): Promise<void> {
  const written = await measureWrite(recorder, subject, count, 'write', writeAll)
  await verifyContent(written)
  await written[Symbol.asyncDispose]()
  await using population = await measureWrite(recorder, subject, count, 'write-together', writeTogether)
  await verifyContent(population)
  await recorder.record('read', readTask(population))
  await recorder.record('stat', statTask(population))
  await recorder.record('readdir', readdirTask(population))
}

type StorePopulation = Population<StoreVolume>

/** Every pass starts with the directories alone. Returns what the last one has written. */
async function measureWrite(
  recorder: Recorder,
  subject: StoreSubject,
  count: number,
  work: string,
  write: (population: StorePopulation) => Promise<number>,
): Promise<StorePopulation> {
  const corpus = createTextFiles(count)
  let population = await prepareVolume(subject, corpus)
  await recorder.record(work, {
    operations: count,
    expected: count,
    prepare: async () => {
      await population[Symbol.asyncDispose]()
      population = await prepareVolume(subject, corpus)
    },
    pass: () => write(population),
  })
  return population
}

async function writeTogether({ volume, files }: StorePopulation): Promise<number> {
  if (volume.writeTogether) await volume.writeTogether(files)
  else await Promise.all(files.map(({ path, bytes }) => volume.write(path, bytes)))
  return files.length
}
