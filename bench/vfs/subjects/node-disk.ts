import { mkdir } from 'node:fs/promises'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { DiskVolume } from '../disk-volume.ts'
import { measureSubject } from '../measure.ts'

export async function measure(recorder: Recorder, { directory }: Settings): Promise<void> {
  let volumes = 0
  await measureSubject(recorder, {
    textFiles: 10_000,
    // Making and removing a hundred thousand takes a disk longer than all the rest.
    treeFiles: 2000,
    warmUpFiles: 500,
    duplicatesPerPass: 1,
    forks: false,
    async open() {
      const root = `${directory}/disk-${process.pid}-${++volumes}`
      await mkdir(root)
      return new DiskVolume(root)
    },
  })
}
