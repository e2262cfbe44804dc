import type { FuseRequest } from '../protocol/index.ts'
import { commitPending, type FuseConnection, type InodeRequestHandler } from './inode-request-handler.ts'

const FORGET_BYTES = 16

export const statfs: InodeRequestHandler = (_request, reply, connection) => {
  // Free space must include files that were just removed.
  commitPending(connection)
  const { files } = connection
  const { blocks, freeBlocks, files: inodes, freeFiles, blockSize, nameBytes } = files.statfs()
  reply.u64(blocks)
  reply.u64(freeBlocks)
  reply.u64(freeBlocks)
  reply.u64(inodes)
  reply.u64(freeFiles)
  reply.u32(blockSize)
  reply.u32(nameBytes)
  reply.u32(blockSize)
  reply.zeros(28)
}

/** Reply to the wake notice of the idle thread. */
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
    const at = 8 + index * FORGET_BYTES
    yield { ino: request.u64(at), times: request.u64(at + 8) }
  }
}

function forgetOne({ nodes, cookies }: FuseConnection, ino: number, times: number): void {
  if (nodes.forget(ino, times)) cookies.forget(ino)
}
