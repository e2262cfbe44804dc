import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureMaps } from '../mounted-maps.ts'

/** Our server with no vault behind it. */
export function measure(recorder: Recorder, settings: Settings): Promise<void> {
  return measureMaps('nothing-kept', false, recorder, settings)
}
