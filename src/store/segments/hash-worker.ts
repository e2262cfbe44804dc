import { parentPort } from 'node:worker_threads'
import { hashChunk } from './hash-chunks.ts'
import type { HashRequest } from './hash-thread.ts'

// Answers in the order of the requests.
parentPort?.on('message', ({ memory, start: first, sizes }: HashRequest) => {
  let end = first
  const hashes = sizes.map((size) => {
    const start = end
    end += size
    return hashChunk(new Uint8Array(memory, start, size))
  })
  parentPort?.postMessage(hashes)
})
