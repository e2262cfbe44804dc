import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureMemory } from '../memory.ts'
import { chooseScale } from '../scale.ts'
import { disk } from './disk-volume.ts'

export function measure(recorder: Recorder, settings: Settings): Promise<void> {
  return measureMemory(recorder, disk(settings), chooseScale(settings).memoryOperations)
}
