import { isVfsError, strict, VfsError } from '../vfs/index.ts'
import { sliceStart } from './text/character-cut.ts'
import { escapeUnprintable } from './text/escape-unprintable.ts'

const SCHEME = 'vfs://'
/** Longest path. */
const MAX_PATH_BYTES = 4096
/** Length of one byte as an escape: `%20`. */
const ESCAPE_LENGTH = 3
/** Part of a long URI that an error names. */
const MAX_SHOWN_CHARACTERS = 100
/** Characters to encode besides unprintable ones: the space, and those that would end the path or begin an escape. */
const UNSAFE = /[ "#%<>?^`{|}]/g

/** Most paths: nothing in them is encoded. */
const PLAIN = /^[\w./-]*$/

/** Converts a canonical path to a URI: `/shared/a b.md` is `vfs:///shared/a%20b.md`. */
export function toUri(path: string): string {
  return SCHEME + encodeUriPath(path)
}

/** Encodes a path or a part of it for a URI. */
export function encodeUriPath(path: string): string {
  if (PLAIN.test(path)) return path
  return escapeUnprintable(path.replace(UNSAFE, encodeURIComponent))
}

/** True if the text is meant as a URI, valid or not. */
export function isUri(text: string): boolean {
  return /^vfs:/i.test(text)
}

/**
 * Returns the path of a `vfs:///` URI. EINVAL for anything but three slashes and a canonical path; an escape such as
 * `%2F` is never decoded into a separator, and escaped dots do not become `.` or `..`.
 */
export function fromUri(uri: string): string {
  if (!uri.startsWith(`${SCHEME}/`))
    throw createUriError(uri, `a URI starts with ${SCHEME}/ and has three slashes`)
  const encoded = uri.slice(SCHEME.length)
  if (Buffer.byteLength(encoded) > ESCAPE_LENGTH * MAX_PATH_BYTES) throw createTooLongError(uri)
  if (/%2f/i.test(encoded)) throw createUriError(uri, 'a name cannot hold a slash, not even as %2F')
  const path = decodePath(encoded, uri)
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw createTooLongError(uri)
  try {
    return strict(path)
  } catch (error) {
    if (!isVfsError(error)) throw error
    // Report the URI as given in place of its path.
    throw createUriError(uri, error.detail ?? error.message)
  }
}

function decodePath(encoded: string, uri: string): string {
  if (!encoded.includes('%')) return encoded
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw createUriError(uri, '% must be followed by the code of a character; write a percent sign as %25')
  }
}

function createTooLongError(uri: string): VfsError {
  return createUriError(
    `${sliceStart(uri, MAX_SHOWN_CHARACTERS)}…`,
    `the path is longer than ${MAX_PATH_BYTES} bytes`,
  )
}

function createUriError(uri: string, detail: string): VfsError {
  return new VfsError('EINVAL', uri, { op: 'uri', detail })
}
