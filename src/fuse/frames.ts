import { readSync, writeSync, writevSync } from 'node:fs'

/** Reads the next request and returns its length; undefined once the mount has ended. */
export function readRequest(fd: number, buffer: Buffer): number | undefined {
  for (;;) {
    try {
      return readSync(fd, buffer)
    } catch (error) {
      const code = getErrorCode(error)
      if (code === 'ENODEV' || code === 'ECONNABORTED' || code === 'EBADF') return undefined
      // ENOENT: the request was cancelled while it was read. The others come with signals.
      if (code !== 'ENOENT' && code !== 'EINTR' && code !== 'EAGAIN') throw error
    }
  }
}

/** Sends a reply, even if the caller no longer waits for it. */
export function sendReply(fd: number, reply: readonly Uint8Array[]): void {
  try {
    const [only, ...more] = reply
    if (only !== undefined && more.length === 0) writeSync(fd, only)
    else writevSync(fd, reply)
  } catch (error) {
    const code = getErrorCode(error)
    // ENOENT: the caller was interrupted. ENODEV: the mount has ended, as the next read will report.
    if (code !== 'ENOENT' && code !== 'ENODEV') throw error
  }
}

function getErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
