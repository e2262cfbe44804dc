import { constants } from 'node:os'
import { VfsError } from '../../vfs/index.ts'
import { type FuseReply, WireError } from '../protocol/index.ts'
import type { InodeRequestHandler } from './inode-request-handler.ts'

const SET_HEADER_BYTES = 8
const namespaces = ['security.', 'user.', 'trusted.'] as const
const modes = { create: 1, replace: 2 } as const

export const getxattr: InodeRequestHandler = (request, reply, { files }) => {
  const value = files.getxattr(request.node, assertStorableName(request.text(8)))
  // The kernel sends this before every first write to a file; a thrown error would be slow.
  if (value === undefined) reply.setError(constants.errno.ENODATA)
  else putXattrValue(reply, value, request.u32(0))
}

export const listxattr: InodeRequestHandler = (request, reply, { files }) => {
  const names = files.listxattr(request.node).map((name) => `${name}\0`)
  putXattrValue(reply, Buffer.from(names.join('')), request.u32(0))
}

export const setxattr: InodeRequestHandler = (request, _, { files, attributes }) => {
  const [size, flags, name] = [
    request.u32(0),
    request.u32(4),
    assertStorableName(request.text(SET_HEADER_BYTES)),
  ]
  const value = request.data(request.getTextEnd(SET_HEADER_BYTES), size)
  const mode = flags === modes.create ? 'create' : flags === modes.replace ? 'replace' : 'any'
  attributes.commitWith(() => files.setxattr(request.node, name, value, mode))
}

export const removexattr: InodeRequestHandler = (request, _, { files, attributes }) => {
  const name = assertStorableName(request.text(0))
  attributes.commitWith(() => files.removexattr(request.node, name))
}

/**
 * Returns the name of an attribute that can be stored. ENOTSUP for access control lists and other system attributes, which
 * would be stored but not enforced.
 */
function assertStorableName(name: string): string {
  if (!namespaces.some((namespace) => name.startsWith(namespace)))
    throw new VfsError('ENOTSUP', name, { op: 'xattr' })
  return name
}

/** Writes the value, or its length if the caller passed no buffer. ERANGE if its buffer is too small. */
function putXattrValue(reply: FuseReply, value: Uint8Array, room: number): void {
  if (room === 0) {
    reply.u32(value.length)
    reply.u32(0)
  } else if (value.length > room) throw new WireError('ERANGE')
  else reply.bytes(value)
}
