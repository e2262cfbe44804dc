import { readSync, writeSync, writevSync } from 'node:fs'

/** The length of the next request; undefined when there will be none. */
export function readRequest(fd: number, buffer: Buffer): number | undefined {
  for (;;) {
    try {
      return readSync(fd, buffer)
    } catch (error) {
      const code = getErrorCode(error)
      if (code === 'ENODEV' || code === 'ECONNABORTED' || code === 'EBADF') return undefined
      // ENOENT: a request was called off while it was read. The others come with signals.
      if (code !== 'ENOENT' && code !== 'EINTR' && code !== 'EAGAIN') throw error
    }
  }
}

/** Sends an answer, whether or not anybody still waits for it. */
export function sendReply(fd: number, answer: readonly Uint8Array[]): void {
  try {
    const [only, ...more] = answer
    if (only !== undefined && more.length === 0) writeSync(fd, only)
    else writevSync(fd, answer)
  } catch (error) {
    const code = getErrorCode(error)
    // ENOENT: whoever asked was interrupted. ENODEV: the mount is gone, as the next read will say.
    if (code !== 'ENOENT' && code !== 'ENODEV') throw error
  }
}

function getErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
