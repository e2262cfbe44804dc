/** The bytes of a file; `spare` is the larger buffer they lie in when the file has been added to or written in place. */
export interface MemoryContent {
  readonly bytes: Uint8Array
  readonly spare: SpareBuffer | null
  /** SHA-256 in hex, once somebody asked for it. */
  hash?: string
}

interface SpareBuffer {
  readonly buffer: Uint8Array
  used: number
  /** Whose writes may change it in place; null where somebody else may be looking at it. */
  owner: object | null
}

export const EMPTY_CONTENT: MemoryContent = { bytes: new Uint8Array(0), spare: null }

/**
 * Content with more bytes at its end, in amortised time of the bytes added.
 * The old content stays as it is: only bytes behind its end are written, and only by the first who extends it.
 */
export function extendContent({ bytes, spare }: MemoryContent, more: Uint8Array): MemoryContent {
  const size = bytes.length + more.length
  const fits = spare !== null && spare.used === bytes.length && spare.buffer.length >= size
  const room = fits ? spare : copyWithSpare(bytes, size, null)
  room.buffer.set(more, bytes.length)
  return fillTo(room, size)
}

/**
 * Content with bytes written over it, zeros in between if they start behind its end, in amortised time of the bytes
 * written: what `owner` wrote before and nobody else was shown is changed in place.
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
  // What lies behind the end may be left from before a truncation. New memory is zeros, and is not taken until it is used.
  if (position > end && room === content.spare) room.buffer.fill(0, end, position)
  room.buffer.set(bytes, position)
  return fillTo(room, size)
}

/** Content cut off or filled up with zeros to a size. */
export function resizeContent(content: MemoryContent, size: number, owner: object): MemoryContent {
  const { bytes, spare } = content
  if (size === 0) return EMPTY_CONTENT
  if (size > bytes.length) return patchContent(content, size, EMPTY_CONTENT.bytes, owner)
  return spare?.owner === owner ? fillTo(spare, size) : { bytes: bytes.subarray(0, size), spare: null }
}

/** The bytes of a content for somebody who goes on looking at them: nobody changes them in place from here on. */
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
  const buffer = new Uint8Array(isGrowing ? Math.max(64, size * 2) : size)
  buffer.set(bytes)
  return { buffer, used: bytes.length, owner }
}
