import { AnsweringThread, startThread } from '../../machine/index.ts'
import type { ChunkHashes } from './hash-chunks.ts'

const IDLE_MS = 2000

/** Chunks that follow each other in memory. */
export interface HashRequest {
  readonly memory: SharedArrayBuffer
  readonly start: number
  readonly sizes: readonly number[]
}

/** The thread of this process: a second one would wait for the same core. */
const thread = new AnsweringThread<HashRequest, readonly ChunkHashes[]>(
  () => startThread(import.meta.url, 'hash-worker', {}),
  IDLE_MS,
)

/**
 * Hashes chunks in a thread, while this one goes on. The memory must not change until the answer. Rejects if there is
 * no thread.
 */
export function hashInThread(request: HashRequest): Promise<readonly ChunkHashes[]> {
  return thread.ask(request)
}
