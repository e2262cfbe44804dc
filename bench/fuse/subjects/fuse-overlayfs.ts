import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measurePeer } from '../mounted-peer.ts'

export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  await measurePeer(
    'fuse-overlayfs',
    (place, mountPoint) => [
      '-o',
      `lowerdir=${place('lower')},upperdir=${place('upper')},workdir=${place('work')}`,
      mountPoint,
    ],
    recorder,
    settings,
  )
}
