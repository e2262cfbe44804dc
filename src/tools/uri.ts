import { isVfsError, strict, VfsError } from '../vfs/index.ts'
import { sliceStart } from './text/character-cut.ts'
import { escapeUnprintable } from './text/escape-unprintable.ts'

const SCHEME = 'vfs://'
/** As long as a path of a system may be. */
const MAX_PATH_BYTES = 4096
/** What a URI cannot hold as it stands, besides what cannot be printed: the space, and what would end the path or begin a code. */
const UNSAFE = /[ "#%<>?^`{|}]/g

/** The URI of a canonical path: `/shared/a b.md` is `vfs:///shared/a%20b.md`. */
export function toUri(path: string): string {
  return SCHEME + encodeUriPath(path)
}

/** A path or a part of it as it stands in a URI. */
export function encodeUriPath(path: string): string {
  return escapeUnprintable(path.replace(UNSAFE, encodeURIComponent))
}

/** Whether somebody means a URI of ours, be it a good one or not. */
export function isUri(text: string): boolean {
  return /^vfs:/i.test(text)
}

/**
 * The path a `vfs:///` URI names. EINVAL for anything but three slashes and a canonical path; a code such as `%2F` is
 * never decoded into a separator, and codes of dots do not become `.` or `..`.
 */
export function fromUri(uri: string): string {
  if (!uri.startsWith(`${SCHEME}/`))
    throw createUriError(uri, `a URI starts with ${SCHEME}/ and has three slashes`)
  const encoded = uri.slice(SCHEME.length)
  if (Buffer.byteLength(encoded) > 3 * MAX_PATH_BYTES) throw createTooLongError(uri)
  if (/%2f/i.test(encoded)) throw createUriError(uri, 'a name cannot hold a slash, not even as %2F')
  const path = decodePath(encoded, uri)
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw createTooLongError(uri)
  try {
    return strict(path)
  } catch (error) {
    if (!isVfsError(error)) throw error
    // Told of the URI as it was given, not of the path it stands for.
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
  return createUriError(`${sliceStart(uri, 100)}…`, `the path is longer than ${MAX_PATH_BYTES} bytes`)
}

function createUriError(uri: string, detail: string): VfsError {
  return new VfsError('EINVAL', uri, { op: 'uri', detail })
}
