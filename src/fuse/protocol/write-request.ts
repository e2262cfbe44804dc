import { constants } from 'node:fs'
import type { FuseRequest } from './fuse-request.ts'

const HEADER_BYTES = 40
const writeFlags = { fromCache: 1 << 0, killPrivileges: 1 << 2 } as const

/** `fuse_write_in` with the bytes behind it. */
export interface WriteRequest {
  /** Where the kernel takes the place to be. Of an append it knows only where the end was when it last looked. */
  readonly position: number
  readonly bytes: Buffer
  /** Whether the file is open to be appended to: the bytes go to its end. Pages of a mapping have their place. */
  readonly isAppend: boolean
  /** Whoever writes may not keep the set-user-id bit. */
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
