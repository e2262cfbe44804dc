import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureMaps } from '../mounted-maps.ts'

/** Our server with the rows and the side log of a vault, and no vault. */
export function measure(recorder: Recorder, settings: Settings): Promise<void> {
  return measureMaps('least', true, recorder, settings)
}
