import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { bytesOnDisk, openBenchHome } from './homes.ts'

const FILES = 2000
const FILE_BYTES = 16 * 1024

/** Measures which part of the room of a deleted vault a collection leaves in the home, while that is open. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const path = join(settings.directory, `collected-${process.pid}`)
  await using home = await openBenchHome(settings, path)
  await (await home.createVault('kept')).write('/file', 'kept')
  await home.sync()
  const before = await bytesOnDisk(path)
  recorder.progress('filling a vault to delete')
  const vault = await home.createVault('deleted')
  for (let file = 0; file < FILES; file++) await vault.write(`/file-${file}`, randomBytes(FILE_BYTES))
  await home.sync()
  const full = await bytesOnDisk(path)
  await home.deleteVault('deleted')
  recorder.progress('gc')
  await home.gc()
  recorder.note('gc-rest', ((await bytesOnDisk(path)) - before) / (full - before))
}
