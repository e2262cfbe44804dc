import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureFiles } from '../files.ts'
import { agentFs } from './agentfs-volume.ts'

export function measure(recorder: Recorder, settings: Settings): Promise<void> {
  return measureFiles(recorder, agentFs(settings))
}
