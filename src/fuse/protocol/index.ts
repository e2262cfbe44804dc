/**
 * The FUSE wire protocol: requests read from a buffer, answers and notices put into one.
 * It knows the kernel's structs and nothing of files; no input of whatever shape makes it do more than refuse.
 * Invariant: structs are little endian and of protocol 7.31 to 7.38.
 */
export {
  putAttributes,
  putEntry,
  putEntryToSkip,
  putNoEntry,
  type SetAttributes,
  setAttributesOf,
  type Validity,
} from './attributes.ts'
export { direntBytes, ENTRY_OUT_BYTES, entryKind, putDirent } from './directory-entries.ts'
export { errnoOf, WireError } from './errno.ts'
export { MAX_WRITE_BYTES, negotiate } from './init.ts'
export { invalidAttributes, invalidEntry, invalidInode, wakeUp } from './notices.ts'
export { opcodes } from './opcodes.ts'
export { Reply } from './reply.ts'
export { Request } from './request.ts'
export { type WriteRequest, writeRequestOf } from './write-request.ts'
