import { VfsError } from '../../vfs/index.ts'
import { MAX_WRITE_BYTES, parseWriteRequest, WireError, type WriteRequest } from '../protocol/index.ts'
import { clearPrivilegeBits, findReducedMode } from './inode-attributes.ts'
import type { FuseConnection, InodeRequestHandler } from './inode-request-handler.ts'

const allocation = { keepSize: 1, punchHole: 2, zeroRange: 16 } as const
const whence = { data: 3, hole: 4 } as const

export const read: InodeRequestHandler = (request, reply, { files }) => {
  const [position, length] = [request.u64(8), request.u32(16)]
  reply.tail(files.read(request.node, position, Math.min(length, MAX_WRITE_BYTES)))
}

export const write: InodeRequestHandler = (request, reply, connection) => {
  const { node } = request
  const { files, attributes } = connection
  const incoming = parseWriteRequest(request)
  const { position, bytes } = incoming
  if (incoming.killsPrivileges) attributes.set(node, { mode: clearPrivilegeBits(attributes.get(node).mode) })
  if (incoming.isAppend) appendToInode(node, incoming, connection)
  else attributes.commitWith(() => files.write(node, position, bytes))
  reply.u32(bytes.length)
  reply.u32(0)
}

/** Appends at the current end; others may have appended since the kernel last read the size. */
function appendToInode(
  node: number,
  { position, bytes }: WriteRequest,
  { files, attributes, splitAppends, reportStale }: FuseConnection,
): void {
  const previous = splitAppends.takePiece(node, position)
  const actualPosition = attributes.commitWith(() => files.append(node, bytes, previous))
  splitAppends.recordPiece(node, position, actualPosition, bytes)
  // The kernel has cached the bytes at the position that it assumed.
  if (actualPosition !== position) reportStale(node)
}

export const fallocate: InodeRequestHandler = (request, _, { files, attributes }) => {
  const { node } = request
  const [position, length, mode] = [request.u64(8), request.u64(16), request.u32(24)]
  const { clears, keepSize } = parseAllocationMode(mode, node)
  // A change of content clears set-user-id. For a write the kernel asks for that by a flag; here it does not.
  const reduced = request.uid === 0 ? undefined : findReducedMode(attributes.get(node).mode)
  if (reduced !== undefined) attributes.set(node, { mode: reduced })
  attributes.commitWith(() => {
    files.batch(() => {
      if (clears) files.punchHole(node, position, length)
      if (!(clears && keepSize)) files.allocate(node, position, length, { keepSize })
    })
  })
}

/**
 * Parses the operation on a range: allocate, punch a hole, or write zeros, which also punches a hole since zeros take no
 * space. ENOTSUP for any other.
 */
function parseAllocationMode(
  mode: number,
  node: number,
): { readonly clears: boolean; readonly keepSize: boolean } {
  const keepSize = (mode & allocation.keepSize) !== 0
  const operation = mode & ~allocation.keepSize
  const isHole = operation === allocation.punchHole && keepSize
  if (operation === 0 || operation === allocation.zeroRange || isHole)
    return { clears: operation !== 0, keepSize }
  throw new VfsError('ENOTSUP', `inode ${node}`, { op: 'fallocate' })
}

export const lseek: InodeRequestHandler = (request, reply, { files }) => {
  const [position, target] = [request.u64(8), request.u32(16)]
  if (target !== whence.data && target !== whence.hole)
    throw new VfsError('EINVAL', `inode ${request.node}`, { op: 'lseek' })
  const found = files.seek(request.node, position, target === whence.data ? 'data' : 'hole')
  if (found === null) throw new WireError('ENXIO')
  reply.u64(found)
}

/** Commits deferred attributes and makes all changes survive power loss. */
export const fsync: InodeRequestHandler = (_request, _reply, { files, attributes }) => {
  attributes.commit()
  files.fsync()
}
