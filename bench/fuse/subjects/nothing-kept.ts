import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createSharedNumber, FuseMount } from '../../../src/fuse/fuse-mount.ts'
import { mountDevice, openDevice } from '../../../src/fuse/mounting/mount-command.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import type { ForgetfulWork } from '../forgetful-worker.ts'
import { measurePrograms } from '../programs.ts'

/** Our server with no vault behind it. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const directory = mkdtempSync(join(settings.directory, 'nothing-kept-'))
  const work: ForgetfulWork = {
    fd: openDevice(),
    waiting: createSharedNumber(),
    ending: createSharedNumber(),
  }
  const worker = new Worker(new URL('../forgetful-worker.ts', import.meta.url), { workerData: work })
  await once(worker, 'message')
  await mountDevice(work.fd, directory, { source: 'nothing-kept', allowsOthers: true })
  worker.postMessage('mounted')
  await using mount = new FuseMount(directory, worker, work)
  await measurePrograms(mount.directory, recorder, settings)
}
