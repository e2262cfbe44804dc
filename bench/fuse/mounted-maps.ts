import { once } from 'node:events'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createSharedNumber, FuseMount } from '../../src/fuse/fuse-mount.ts'
import { mountDevice, openDevice } from '../../src/fuse/mounting/mount-command.ts'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import type { ForgetfulWork } from './forgetful-worker.ts'
import { measurePrograms } from './programs.ts'

/** Measures our server with maps in place of a vault. They keep nothing, or log each change as a vault does. */
export async function measureMaps(
  name: string,
  isLogged: boolean,
  recorder: Recorder,
  settings: Settings,
): Promise<void> {
  const scratch = mkdtempSync(join(settings.directory, `${name}-`))
  const directory = join(scratch, 'mount')
  mkdirSync(directory)
  const work: ForgetfulWork = {
    fd: openDevice(),
    waiting: createSharedNumber(),
    ending: createSharedNumber(),
    ...(isLogged && { store: join(scratch, 'store') }),
  }
  const worker = new Worker(new URL('./forgetful-worker.ts', import.meta.url), { workerData: work })
  await once(worker, 'message')
  await mountDevice(work.fd, directory, { source: name, allowsOthers: true })
  worker.postMessage('mounted')
  await using mount = new FuseMount(directory, worker, work)
  await measurePrograms(mount.directory, recorder, settings)
}
