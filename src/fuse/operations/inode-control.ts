import type { FuseRequest } from '../protocol/index.ts'
import { commitPending, type FuseConnection, type InodeRequestHandler } from './inode-request-handler.ts'

const FORGET_HEADER_BYTES = 8
const FORGET_BYTES = 16
/** Padding and spare fields at the end of `struct fuse_kstatfs`, whose order the reply has. */
const STATFS_REST_BYTES = 28

export const statfs: InodeRequestHandler = (_request, reply, connection) => {
  // Free space must include files that were just removed.
  commitPending(connection)
  const { files } = connection
  const { blocks, freeBlocks, files: inodes, freeFiles, blockSize, nameBytes } = files.statfs()
  reply.u64(blocks)
  reply.u64(freeBlocks)
  // All free blocks are available to ordinary users.
  reply.u64(freeBlocks)
  reply.u64(inodes)
  reply.u64(freeFiles)
  reply.u32(blockSize)
  reply.u32(nameBytes)
  reply.u32(blockSize)
  reply.zeros(STATFS_REST_BYTES)
}

/**
 * Commits pending changes. The kernel sends this request for a notice of the idle thread: the server blocks in a read and
 * reacts to requests only.
 */
export const notifyReply: InodeRequestHandler = (_request, _reply, connection) => {
  commitPending(connection)
}

export const forget: InodeRequestHandler = (request, _, connection) => {
  forgetOne(connection, request.node, request.u64(0))
}

export const batchForget: InodeRequestHandler = (request, _, connection) => {
  for (const { ino, times } of parseForgets(request)) forgetOne(connection, ino, times)
}

export const destroy: InodeRequestHandler = (_request, _reply, { attributes, nodes }) => {
  attributes.commit()
  nodes.clear()
}

function* parseForgets(request: FuseRequest): Generator<{ ino: number; times: number }> {
  const count = request.u32(0)
  for (let index = 0; index < count; index++) {
    const offset = FORGET_HEADER_BYTES + index * FORGET_BYTES
    yield { ino: request.u64(offset), times: request.u64(offset + 8) }
  }
}

/** Subtracts lookups of an inode. With the last one, the cookies of a directory are dropped too. */
function forgetOne({ nodes, cookies }: FuseConnection, ino: number, times: number): void {
  if (nodes.forget(ino, times)) cookies.forget(ino)
}
