import type { Recorder } from '../harness/benchmark.ts'
import { createTextFiles } from '../vfs/corpus.ts'
import { type Population, populate } from '../vfs/populate.ts'
import type { StoreSubject, StoreVolume } from './volume.ts'

/** Enough files that a cache of the last few serves none. */
const FILES = 1000

/**
 * Measures the resident memory that many operations leave behind: reads, stats and listings in turn, garbage collected.
 */
export async function measureMemory(
  recorder: Recorder,
  subject: StoreSubject,
  operations: number,
): Promise<void> {
  await using population = await populate(subject, createTextFiles(Math.min(FILES, operations)))
  // The first round fills caches and compiles: what every process pays once is no growth.
  await operate(population, operations / 2)
  const before = readResidentMemory()
  recorder.progress('memory')
  await operate(population, operations)
  recorder.note('memory', Math.max(0, readResidentMemory() - before))
}

async function operate(
  { volume, files, directories }: Population<StoreVolume>,
  operations: number,
): Promise<void> {
  for (let done = 0; done < operations; done++) {
    const { path = '' } = files[done % files.length] ?? {}
    if (done % 3 === 0) await volume.read(path)
    else if (done % 3 === 1) await volume.stat(path)
    else await volume.countEntries(directories[done % directories.length] ?? '')
  }
}

function readResidentMemory(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage.rss()
}
