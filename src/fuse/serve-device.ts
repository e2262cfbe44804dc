import { readRequest, sendReply } from './frames.ts'
import type { FuseServer } from './fuse-server.ts'
import { MAX_WRITE_BYTES } from './protocol/index.ts'

/** Size of the largest request: a write with its header. */
export const BUFFER_BYTES: number = MAX_WRITE_BYTES + 4096

/**
 * Serves requests until the mount ends or `ending` is set. Blocks its thread.
 * `waiting` shows other threads whether changes are uncommitted, and changes with each of them.
 */
export function serveDevice(
  fd: number,
  server: FuseServer,
  { waiting, ending }: { readonly waiting: Int32Array; readonly ending: Int32Array },
): void {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  while (Atomics.load(ending, 0) === 0) {
    const length = readRequest(fd, buffer)
    if (length === undefined) break
    const reply = server.handle(buffer.subarray(0, length))
    if (reply !== undefined) sendReply(fd, reply)
    const count = server.waiting
    // The idle thread sleeps while nothing is uncommitted.
    if (Atomics.exchange(waiting, 0, count) === 0 && count !== 0) Atomics.notify(waiting, 0)
  }
  server.close()
}
