import type { Recorder, Task } from '../harness/benchmark.ts'
import { countNeedles, createTextFiles, NEEDLE, totalBytes } from './corpus.ts'
import { type Population, prepareVolume, verifyContent } from './populate.ts'
import type { FileVolume, GrepMode, Subject } from './volume.ts'

/** Write, read, stat, readdir and grep of files of 1 KiB, a hundred in each directory; one call after the other. */
export async function measureSmallFiles(recorder: Recorder, subject: Subject, count: number): Promise<void> {
  const corpus = createTextFiles(count)
  let population = await prepareVolume(subject, corpus)
  await recorder.record('write', {
    operations: count,
    expected: count,
    prepare: async () => {
      await population[Symbol.asyncDispose]()
      population = await prepareVolume(subject, corpus)
    },
    pass: () => writeAll(population),
  })
  await verifyContent(population)
  await recorder.record('read', readTask(population))
  await recorder.record('stat', statTask(population))
  await recorder.record('readdir', readdirTask(population))
  await recorder.record('grep', grepTask(population, 'lines'))
  await recorder.record('grep-file-first', grepTask(population, 'file-first'))
  await population[Symbol.asyncDispose]()
}

export async function writeAll({ volume, files }: Population<FileVolume>): Promise<number> {
  for (const { path, bytes } of files) await volume.write(path, bytes)
  return files.length
}

export function readTask({ volume, files }: Population<FileVolume>): Task {
  return {
    operations: files.length,
    expected: totalBytes(files),
    async pass() {
      let bytes = 0
      for (const { path } of files) bytes += (await volume.read(path)).length
      return bytes
    },
  }
}

export function statTask({ volume, files }: Population<FileVolume>): Task {
  return {
    operations: files.length,
    expected: totalBytes(files),
    async pass() {
      let bytes = 0
      for (const { path } of files) bytes += Number((await volume.stat(path)).size)
      return bytes
    },
  }
}

/** One operation is one directory. */
export function readdirTask({ volume, files, directories }: Population<FileVolume>): Task {
  return {
    operations: directories.length,
    expected: files.length,
    async pass() {
      let entries = 0
      for (const directory of directories) entries += await volume.countEntries(directory)
      return entries
    },
  }
}

/** One operation is one file. */
function grepTask({ volume, files }: Population, mode: GrepMode): Task {
  return {
    operations: files.length,
    expected: countNeedles(files.length),
    pass: () => volume.countMatches(NEEDLE, mode),
  }
}
