import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { readRequest } from './frames.ts'

/** Input of the thread that reads requests. */
export interface FrameWorkerData {
  /** `/dev/fuse`, open and mounted. */
  readonly fd: number
  /** Size of the largest request. */
  readonly bufferBytes: number
  /** Set when the thread must end, even if the mount is in use; shared memory. */
  readonly ending: Int32Array
}

if (!isMainThread && parentPort !== null) forwardRequests(workerData, parentPort)

/** Forwards every request to the serving thread. Reading blocks, and only this thread may block. */
function forwardRequests({ fd, bufferBytes, ending }: FrameWorkerData, parent: MessagePort): void {
  const buffer = Buffer.allocUnsafeSlow(bufferBytes)
  while (Atomics.load(ending, 0) === 0) {
    const length = readRequest(fd, buffer)
    if (length === undefined) return
    const frame = new Uint8Array(buffer.subarray(0, length))
    parent.postMessage(frame, [frame.buffer])
  }
}
