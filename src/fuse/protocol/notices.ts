const HEADER_BYTES = 16
const ENTRY_BYTES = 16
const INODE_BYTES = 24
const INVALIDATE_INODE = 2
const INVALIDATE_ENTRY = 3
const RETRIEVE = 5
const RETRIEVE_BYTES = 32

/** Encodes a notice that drops a cached name, also a cached absence. */
export function encodeInvalidEntry(parent: number, name: string): Buffer {
  const text = Buffer.from(name)
  // The NUL after the text is not counted in its length.
  const notice = allocateNotice(INVALIDATE_ENTRY, ENTRY_BYTES + text.length + 1)
  notice.writeBigUInt64LE(BigInt(parent), HEADER_BYTES)
  notice.writeUInt32LE(text.length, HEADER_BYTES + 8)
  text.copy(notice, HEADER_BYTES + ENTRY_BYTES)
  return notice
}

/** Encodes a notice that drops an inode's cached attributes and content. */
export function encodeInvalidInode(ino: number): Buffer {
  const notice = allocateNotice(INVALIDATE_INODE, INODE_BYTES)
  notice.writeBigUInt64LE(BigInt(ino), HEADER_BYTES)
  return notice
}

/** Encodes a notice that drops an inode's attributes but not its content. The kernel accepts it without waiting. */
export function encodeInvalidAttributes(ino: number): Buffer {
  const notice = encodeInvalidInode(ino)
  notice.writeBigInt64LE(-1n, HEADER_BYTES + 8)
  return notice
}

/**
 * Encodes a notice that makes the kernel send a `notifyReply` for a regular file that it knows. This wakes the reader.
 * The sender does not wait for a reply. A waiting thread of the serving process would keep the device open
 * and the mount hanging if that process is killed.
 */
export function encodeRetrieve(ino: number): Buffer {
  const notice = allocateNotice(RETRIEVE, RETRIEVE_BYTES)
  notice.writeBigUInt64LE(BigInt(ino), HEADER_BYTES + 8)
  return notice
}

/** Allocates an unsolicited reply; its error field holds the notice code. */
function allocateNotice(code: number, bodyBytes: number): Buffer {
  const notice = Buffer.alloc(HEADER_BYTES + bodyBytes)
  notice.writeUInt32LE(notice.length, 0)
  notice.writeInt32LE(code, 4)
  return notice
}
