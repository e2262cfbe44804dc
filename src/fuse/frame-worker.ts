import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { readRequest } from './frames.ts'

/** What the thread that reads requests is given. */
export interface FrameWorkerData {
  /** `/dev/fuse`, open and mounted. */
  readonly fd: number
  /** What the largest request takes. */
  readonly bufferBytes: number
  /** Set once it is to end, whoever uses the mount; shared memory. */
  readonly ending: Int32Array
}

if (!isMainThread && parentPort !== null) forwardRequests(workerData, parentPort)

/** Hands every request of the kernel to the thread that answers it: reading one blocks, and only this may be blocked. */
function forwardRequests({ fd, bufferBytes, ending }: FrameWorkerData, parent: MessagePort): void {
  const buffer = Buffer.allocUnsafeSlow(bufferBytes)
  while (Atomics.load(ending, 0) === 0) {
    const length = readRequest(fd, buffer)
    if (length === undefined) return
    const frame = new Uint8Array(buffer.subarray(0, length))
    parent.postMessage(frame, [frame.buffer])
  }
}
