import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureMemory } from '../memory.ts'
import { chooseScale } from '../scale.ts'
import { vaults } from './vault-volume.ts'

export function measure(recorder: Recorder, settings: Settings): Promise<void> {
  return measureMemory(recorder, vaults(settings, 'process'), chooseScale(settings).memoryOperations)
}
