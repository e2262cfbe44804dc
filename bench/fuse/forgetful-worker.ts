import { once } from 'node:events'
import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { FuseServer } from '../../src/fuse/fuse-server.ts'
import { serveDevice } from '../../src/fuse/serve-device.ts'
import { ForgetfulFiles } from './forgetful-files.ts'
import { LoggedFiles } from './logged-files.ts'

/** As long as a mounted vault lets the kernel remember. */
const VALID_SECONDS = 24 * 60 * 60

export interface ForgetfulWork {
  readonly fd: number
  /** The store that keeps changes; nothing is kept when absent. */
  readonly store?: string
  readonly waiting: Int32Array
  readonly ending: Int32Array
}

if (!isMainThread && parentPort !== null) await serve(workerData, parentPort)

async function serve(work: ForgetfulWork, parent: MessagePort): Promise<void> {
  parent.postMessage('ready')
  // The device can be read once it is mounted.
  await once(parent, 'message')
  const files = work.store === undefined ? new ForgetfulFiles() : new LoggedFiles(work.store)
  serveDevice(work.fd, new FuseServer(files, { validity: { seconds: VALID_SECONDS } }), work)
}
