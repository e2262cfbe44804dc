/** The bytes of a file. `spare` is the larger buffer they lie in after an append or an in-place write. */
export interface MemoryContent {
  readonly bytes: Uint8Array
  readonly spare: SpareBuffer | null
  /** SHA-256 in hex, cached at the first request. */
  hash?: string
}

interface SpareBuffer {
  readonly buffer: Uint8Array
  /** End of the newest content in the buffer. */
  used: number
  /** The token whose writes may change the buffer in place; null once a reader may hold it. */
  owner: object | null
}

/** Smallest buffer of a file that grows. */
const MIN_SPARE_BYTES = 64

export const EMPTY_CONTENT: MemoryContent = { bytes: new Uint8Array(0), spare: null }

/**
 * Appends bytes in amortised time of their length. The old content stays valid: only bytes behind its end are written,
 * and only by the first extension.
 */
export function extendContent({ bytes, spare }: MemoryContent, more: Uint8Array): MemoryContent {
  const size = bytes.length + more.length
  const fits = spare !== null && spare.used === bytes.length && spare.buffer.length >= size
  const room = fits ? spare : copyWithSpare(bytes, size, null)
  room.buffer.set(more, bytes.length)
  return fillTo(room, size)
}

/**
 * Overwrites bytes at a position, with zeros in any gap, in amortised time of the bytes written. A buffer that `owner`
 * created and no reader holds is changed in place.
 */
export function patchContent(
  content: MemoryContent,
  position: number,
  bytes: Uint8Array,
  owner: object,
): MemoryContent {
  const end = content.bytes.length
  const size = Math.max(end, position + bytes.length)
  const room = getOwnBuffer(content, size, owner)
  // Bytes behind the end may date from before a truncation. A fresh buffer is zero already.
  if (position > end && room === content.spare) room.buffer.fill(0, end, position)
  room.buffer.set(bytes, position)
  return fillTo(room, size)
}

/** Truncates content, or extends it with zeros. */
export function resizeContent(content: MemoryContent, size: number, owner: object): MemoryContent {
  const { bytes, spare } = content
  if (size === 0) return EMPTY_CONTENT
  if (size > bytes.length) return patchContent(content, size, EMPTY_CONTENT.bytes, owner)
  return spare?.owner === owner ? fillTo(spare, size) : { bytes: bytes.subarray(0, size), spare: null }
}

/** Returns the bytes for a reader that keeps them. No later write changes them in place. */
export function shareBytes({ bytes, spare }: MemoryContent): Uint8Array {
  if (spare !== null) spare.owner = null
  return bytes
}

function fillTo(room: SpareBuffer, size: number): MemoryContent {
  room.used = size
  return { bytes: room.buffer.subarray(0, size), spare: room }
}

function getOwnBuffer({ bytes, spare }: MemoryContent, size: number, owner: object): SpareBuffer {
  return spare?.owner === owner && spare.buffer.length >= size ? spare : copyWithSpare(bytes, size, owner)
}

function copyWithSpare(bytes: Uint8Array, size: number, owner: object | null): SpareBuffer {
  const isGrowing = size > bytes.length
  const buffer = new Uint8Array(isGrowing ? Math.max(MIN_SPARE_BYTES, size * 2) : size)
  buffer.set(bytes)
  return { buffer, used: bytes.length, owner }
}
