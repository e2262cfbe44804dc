import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measurePrograms } from '../programs.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const directory = mkdtempSync(join(settings.directory, 'disk-'))
  await measurePrograms(directory, recorder, settings)
}
