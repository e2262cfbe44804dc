import { readSync, writeSync, writevSync } from 'node:fs'
import type { FuseServer } from './fuse-server.ts'
import { MAX_WRITE_BYTES } from './protocol/index.ts'

/** The largest request is a write, with its header. */
const BUFFER_BYTES = MAX_WRITE_BYTES + 4096

/**
 * Answers requests of the kernel until it has no more, which is when the mount is gone. Blocks its thread all along;
 * `waiting` tells others how much there is to commit.
 */
export function serveDevice(fd: number, server: FuseServer, waiting: Int32Array): void {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  for (;;) {
    const length = nextRequest(fd, buffer)
    if (length === undefined) break
    const answer = server.handle(buffer.subarray(0, length))
    if (answer !== undefined) send(fd, answer)
    Atomics.store(waiting, 0, server.waiting)
  }
  server.close()
}

/** The length of the next request; undefined when there will be none. */
function nextRequest(fd: number, buffer: Buffer): number | undefined {
  for (;;) {
    try {
      return readSync(fd, buffer)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENODEV' || code === 'ECONNABORTED' || code === 'EBADF') return undefined
      // ENOENT: a request was called off while it was read. The others come with signals.
      if (code !== 'ENOENT' && code !== 'EINTR' && code !== 'EAGAIN') throw error
    }
  }
}

/** Sends an answer, whether or not anybody still waits for it. */
function send(fd: number, answer: readonly Uint8Array[]): void {
  try {
    const [only, ...more] = answer
    if (only !== undefined && more.length === 0) writeSync(fd, only)
    else writevSync(fd, answer)
  } catch (error) {
    const code = codeOf(error)
    // ENOENT: whoever asked was interrupted. ENODEV: the mount is gone, as the next read will say.
    if (code !== 'ENOENT' && code !== 'ENODEV') throw error
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
