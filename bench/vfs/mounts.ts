import type { Recorder } from '../harness/benchmark.ts'
import type { MountedVolume, Subject } from './volume.ts'

const MOUNTS = [1, 10, 100] as const
/** The same number of files whatever the mounts, so that only the dispatch differs. */
const FILES = 200

/** Finding the mount that serves a path, by `stat` of files spread over all mounts. */
export async function measureMounts(recorder: Recorder, subject: Subject, operations: number): Promise<void> {
  for (const count of MOUNTS) {
    const mountPoints = Array.from({ length: count }, (_, index) => `/mnt/mount-${formatDigits(index)}`)
    await using volume = await subject.openMounts?.(mountPoints)
    if (volume === undefined) return
    const paths = await fill(volume, mountPoints)
    await recorder.record(`dispatch-${count}`, {
      operations,
      expected: operations,
      async pass() {
        let bytes = 0
        for (let done = 0; done < operations; done += paths.length) {
          for (const path of paths) bytes += Number((await volume.stat(path)).size)
        }
        return bytes
      },
    })
  }
}

/** Files of one byte, dealt out to the mounts in turn. */
async function fill(volume: MountedVolume, mountPoints: readonly string[]): Promise<string[]> {
  const paths = Array.from({ length: FILES }, (_, index) => {
    return `${mountPoints[index % mountPoints.length]}/file-${formatDigits(index)}.txt`
  })
  for (const path of paths) await volume.write(path, Uint8Array.of(1))
  return paths
}

function formatDigits(value: number): string {
  return String(value).padStart(3, '0')
}
