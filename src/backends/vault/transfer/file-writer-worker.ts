import { parentPort } from 'node:worker_threads'
import type { FileBatch, FileBatchFailure } from './file-writers.ts'
import { writeNewFile } from './host-writer.ts'

// Answers each batch with the failure that ended it, if there was one.
parentPort?.on('message', (batch: FileBatch) => parentPort?.postMessage(writeBatch(batch)))

function writeBatch({ paths, sizes, attributes, content }: FileBatch): FileBatchFailure | undefined {
  let start = 0
  for (const [index, path] of paths.entries()) {
    const [size, attribute] = [sizes[index], attributes[index]]
    if (size === undefined || attribute === undefined) break
    try {
      writeNewFile(path, content.subarray(start, start + size), attribute)
    } catch (error) {
      return {
        path,
        error: error instanceof Error ? { ...error, message: error.message } : { message: String(error) },
      }
    }
    start += size
  }
  return undefined
}
