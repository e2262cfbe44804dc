/**
 * The FUSE wire protocol: decodes requests from a buffer, encodes replies and notices into one. It knows the kernel's
 * structs and no files. Malformed input of any shape is rejected. Invariant: structs are little endian and of protocol
 * 7.31 to 7.38.
 */
export {
  type CacheTtl,
  parseSetAttributes,
  putAttributes,
  putEntry,
  putEntryToSkip,
  putNoEntry,
  type SetAttributes,
} from './attribute-structs.ts'
export { ENTRY_OUT_BYTES, getDirentSize, putDirent, toEntryType } from './directory-entries.ts'
export { toErrno, WireError } from './errno.ts'
export { FuseReply } from './fuse-reply.ts'
export { FuseRequest } from './fuse-request.ts'
export { MAX_WRITE_BYTES, negotiate } from './init.ts'
export { encodeInvalidAttributes, encodeInvalidEntry, encodeInvalidInode, encodeRetrieve } from './notices.ts'
export { opcodes } from './opcodes.ts'
export { parseWriteRequest, type WriteRequest } from './write-request.ts'
