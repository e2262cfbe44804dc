import type { Recorder } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'
import { measureLargeFile } from './large-file.ts'
import { measureMounts } from './mounts.ts'
import { measureSmallFiles } from './small-files.ts'
import { measureTrees } from './trees.ts'
import type { Subject } from './volume.ts'

/** Sizes of the works. */
interface Scale {
  readonly textFiles: number
  readonly treeFiles: number
  readonly largeFileBytes: number
  readonly dispatches: number
}

/** Does all works of the `vfs` benchmark on a subject, first with small sizes to warm up. */
export async function measureSubject(recorder: Recorder, subject: Subject): Promise<void> {
  await runWorks(new WarmUpRecorder(), subject, {
    textFiles: subject.warmUpFiles,
    treeFiles: subject.warmUpFiles,
    largeFileBytes: 8 * 1024 ** 2,
    dispatches: 4000,
  })
  await runWorks(recorder, subject, {
    textFiles: subject.textFiles,
    treeFiles: subject.treeFiles,
    largeFileBytes: 100 * 1024 ** 2,
    dispatches: 20_000,
  })
}

async function runWorks(recorder: Recorder, subject: Subject, scale: Scale): Promise<void> {
  await measureSmallFiles(recorder, subject, scale.textFiles)
  await measureTrees(recorder, subject, scale.treeFiles)
  await measureLargeFile(recorder, subject, scale.largeFileBytes)
  await measureMounts(recorder, subject, scale.dispatches)
}
