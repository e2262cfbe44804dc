import { constants } from 'node:fs'
import type { FuseRequest } from './fuse-request.ts'

const HEADER_BYTES = 40
const writeFlags = { fromCache: 1 << 0, killPrivileges: 1 << 2 } as const

/** `fuse_write_in` and its bytes. */
export interface WriteRequest {
  /** Position assumed by the kernel. For an append, the end of the file when it last read the size. */
  readonly position: number
  readonly bytes: Buffer
  /** True if the file is open for appending: the bytes go to its end. Pages of a mapping keep their position. */
  readonly isAppend: boolean
  /** True if the set-user-id bit must be cleared. */
  readonly killsPrivileges: boolean
}

export function parseWriteRequest(request: FuseRequest): WriteRequest {
  const flags = request.u32(20)
  return {
    position: request.u64(8),
    bytes: request.data(HEADER_BYTES, request.u32(16)),
    isAppend: (request.u32(32) & constants.O_APPEND) !== 0 && (flags & writeFlags.fromCache) === 0,
    killsPrivileges: (flags & writeFlags.killPrivileges) !== 0,
  }
}
