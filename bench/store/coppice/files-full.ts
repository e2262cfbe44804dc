import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureFiles } from '../files.ts'
import { vaults } from './vault-volume.ts'

export function measure(recorder: Recorder, settings: Settings): Promise<void> {
  return measureFiles(recorder, vaults(settings, 'full'))
}
