import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measurePeer } from '../mounted-peer.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  await measurePeer('bindfs', (place, mountPoint) => [place('source'), mountPoint], recorder, settings)
}
