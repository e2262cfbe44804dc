import { type Hunk, listHunks, splitLines } from '../diff/index.ts'
import { Mutex, startThread } from '../machine/index.ts'
import { VfsError } from '../vfs/index.ts'

/** Texts of this length together are compared within some ten milliseconds, less than a thread takes to start. */
const MAX_INLINE_CHARACTERS = 512 * 1024
const MAX_MEGABYTES = 1024

/** Input of the thread. */
export interface DiffWorkerData {
  readonly old: string
  readonly current: string
}

/** One comparison at a time: each may take a whole core and much memory. */
const threads = new Mutex()

/** Lists the hunks between two texts. Compares long ones in a thread, so that nothing else waits. EIO if that fails. */
export async function listHunksInThread(texts: DiffWorkerData): Promise<readonly Hunk[]> {
  if (texts.old.length + texts.current.length <= MAX_INLINE_CHARACTERS)
    return listHunks(splitLines(texts.old), splitLines(texts.current))
  return threads.run(() => runThread(texts))
}

function runThread(texts: DiffWorkerData): Promise<readonly Hunk[]> {
  return new Promise((resolve, reject) => {
    const worker = startThread(import.meta.url, 'diff-worker', {
      workerData: texts,
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
    })
    const fail = (reason: string) =>
      reject(new VfsError('EIO', '/', { op: 'diff', detail: `the texts cannot be compared: ${reason}` }))
    worker.once('message', resolve)
    worker.once('error', ({ message }) => fail(message))
    worker.once('exit', () => fail('the thread ended'))
  })
}
