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
  const asked = parseWriteRequest(request)
  const { position, bytes } = asked
  if (asked.killsPrivileges) attributes.set(node, { mode: clearPrivilegeBits(attributes.get(node).mode) })
  if (asked.isAppend) appendToInode(node, asked, connection)
  else attributes.commitWith(() => files.write(node, position, bytes))
  reply.u32(bytes.length)
  reply.u32(0)
}

/** Others may have appended since the kernel last looked where the end is. */
function appendToInode(
  node: number,
  { position, bytes }: WriteRequest,
  { files, attributes, splitAppends, reportStale }: FuseConnection,
): void {
  const begun = splitAppends.takePiece(node, position)
  const end = attributes.commitWith(() => files.append(node, bytes, begun))
  splitAppends.recordPiece(node, position, end, bytes)
  // The kernel has cached the bytes where it took the end to be.
  if (end !== position) reportStale(node)
}

export const fallocate: InodeRequestHandler = (request, _, { files, attributes }) => {
  const { node } = request
  const [position, length, mode] = [request.u64(8), request.u64(16), request.u32(24)]
  const { clears, keepSize } = parseAllocationMode(mode, node)
  // As for a write, of which the kernel says so itself.
  const kept = request.uid === 0 ? undefined : findReducedMode(attributes.get(node).mode)
  if (kept !== undefined) attributes.set(node, { mode: kept })
  attributes.commitWith(() => {
    files.batch(() => {
      if (clears) files.punchHole(node, position, length)
      if (!(clears && keepSize)) files.allocate(node, position, length, { keepSize })
    })
  })
}

/** What becomes of a range. Zeros take no room, so that to write them is to punch a hole. ENOTSUP. */
function parseAllocationMode(
  mode: number,
  node: number,
): { readonly clears: boolean; readonly keepSize: boolean } {
  const keepSize = (mode & allocation.keepSize) !== 0
  const way = mode & ~allocation.keepSize
  const isHole = way === allocation.punchHole && keepSize
  if (way === 0 || way === allocation.zeroRange || isHole) return { clears: way !== 0, keepSize }
  throw new VfsError('ENOTSUP', `inode ${node}`, { op: 'fallocate' })
}

export const lseek: InodeRequestHandler = (request, reply, { files }) => {
  const [position, what] = [request.u64(8), request.u32(16)]
  if (what !== whence.data && what !== whence.hole)
    throw new VfsError('EINVAL', `inode ${request.node}`, { op: 'lseek' })
  const found = files.seek(request.node, position, what === whence.data ? 'data' : 'hole')
  if (found === null) throw new WireError('ENXIO')
  reply.u64(found)
}

/** Everything is committed when it is answered; this makes it survive power loss too. */
export const fsync: InodeRequestHandler = (_request, _reply, { files, attributes }) => {
  attributes.commit()
  files.fsync()
}
