import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isMainThread, workerData } from 'node:worker_threads'
import { SharedRequests } from './shared-requests.ts'

/** Input of the thread that makes checkpoints: the store, and the counters of the requests. */
export interface CheckpointWorkerData {
  readonly file: string
  readonly counts: Int32Array
}

if (!isMainThread) serve(workerData)

function serve({ file, counts }: CheckpointWorkerData): void {
  const requests = new SharedRequests(counts)
  const uri = pathToFileURL(file)
  // A store that was removed meanwhile is not created again.
  uri.searchParams.set('mode', 'rw')
  for (;;) {
    const request = requests.waitForNext()
    makeCheckpoint(uri)
    requests.answer(request)
  }
}

/** Makes a checkpoint with a connection of its own: the last connection that is closed removes the log. */
function makeCheckpoint(uri: URL): void {
  try {
    using db = new DatabaseSync(uri)
    db.exec('PRAGMA wal_checkpoint(PASSIVE)')
  } catch {
    // The connection that writes makes a checkpoint itself once the log is long.
  }
}
