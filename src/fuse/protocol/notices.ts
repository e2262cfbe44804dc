const HEADER_BYTES = 16
const ENTRY_BYTES = 16
const INODE_BYTES = 24
const INVALIDATE_INODE = 2
const INVALIDATE_ENTRY = 3
const RETRIEVE = 5
const RETRIEVE_BYTES = 32

/** Tells the kernel to forget what a name leads to, and that there is nothing. */
export function encodeInvalidEntry(parent: number, name: string): Buffer {
  const text = Buffer.from(name)
  // The text has a NUL behind it that its length does not count.
  const notice = allocateNotice(INVALIDATE_ENTRY, ENTRY_BYTES + text.length + 1)
  notice.writeBigUInt64LE(BigInt(parent), HEADER_BYTES)
  notice.writeUInt32LE(text.length, HEADER_BYTES + 8)
  text.copy(notice, HEADER_BYTES + ENTRY_BYTES)
  return notice
}

/** Tells the kernel to forget an inode's attributes and cached content. */
export function encodeInvalidInode(ino: number): Buffer {
  const notice = allocateNotice(INVALIDATE_INODE, INODE_BYTES)
  notice.writeBigUInt64LE(BigInt(ino), HEADER_BYTES)
  return notice
}

/** Tells the kernel to forget an inode's attributes, and to keep its content. It never has to wait to take this. */
export function encodeInvalidAttributes(ino: number): Buffer {
  const notice = encodeInvalidInode(ino)
  notice.writeBigInt64LE(-1n, HEADER_BYTES + 8)
  return notice
}

/**
 * Has the kernel send a `notifyReply` about a regular file it knows, which wakes whoever waits for a request. Nobody waits
 * for an answer: a thread that did, of the very process that serves, would keep the device open and the mount hanging if that process is killed.
 */
export function encodeRetrieve(ino: number): Buffer {
  const notice = allocateNotice(RETRIEVE, RETRIEVE_BYTES)
  notice.writeBigUInt64LE(BigInt(ino), HEADER_BYTES + 8)
  return notice
}

/** An answer that nothing was asked for: the error field has the kind of notice. */
function allocateNotice(code: number, bodyBytes: number): Buffer {
  const notice = Buffer.alloc(HEADER_BYTES + bodyBytes)
  notice.writeUInt32LE(notice.length, 0)
  notice.writeInt32LE(code, 4)
  return notice
}
