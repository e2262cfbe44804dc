import { countUtf8Bytes } from './bytes.ts'
import { VfsError } from './error.ts'

const SLASH = 47
const DOT = 46
const FIRST_SURROGATE = 0xd800
/** The longest name every backend can store, in UTF-8 bytes. */
const MAX_NAME_BYTES = 255

/**
 * Returns the canonical form of an absolute path: no `//`, `.`, `..` or trailing slash. Throws EINVAL for a relative
 * path.
 */
export function normalize(path: string): string {
  assertAbsolute(path)
  return isCanonical(path) ? path : `/${canonicalSegments(path).join('/')}`
}

/**
 * Returns a path unchanged if it is canonical and storable; throws EINVAL otherwise. For paths from an agent, a URI or
 * a request, which are never silently repaired.
 */
export function strict(path: string): string {
  if (typeof path !== 'string' || path === '')
    throw createInvalidPathError(String(path), 'the path is empty; start it with /')
  assertAbsolute(path)
  if (path === '/') return path
  if (path.endsWith('/')) throw createInvalidPathError(path, 'the path ends with a slash; remove it')
  for (const name of path.slice(1).split('/')) {
    if (name === '')
      throw createInvalidPathError(path, 'the path has an empty component; remove the double slash')
    if (name === '.' || name === '..')
      throw createInvalidPathError(path, `the path has a '${name}' component; use the path without it`)
  }
  assertNames(path)
  return path
}

/**
 * Normalizes the path of an operation. Throws EINVAL for a path that some backend could not store exactly: a NUL, a
 * lone surrogate, a name over 255 bytes.
 */
export function checkPath(path: string, op?: string): string {
  if (isPlain(path)) return path
  const canonical = normalize(path)
  assertNames(canonical, op)
  return canonical
}

/** Joins two paths. An absolute second path replaces the first. */
export function join(first: string, second: string): string {
  return normalize(second.startsWith('/') ? second : `${first}/${second}`)
}

/** Resolves a path as a shell in the directory `cwd` does. */
export function resolve(cwd: string, path: string): string {
  return join(normalize(cwd), path)
}

/** Returns the directory that a path is in; the root for the root. */
export function dirname(path: string): string {
  const end = path.lastIndexOf('/')
  return end <= 0 ? '/' : path.slice(0, end)
}

/** Returns the last name of a path; empty for the root. */
export function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Returns the names in a path; none for the root. */
export function split(path: string): string[] {
  return canonicalSegments(path)
}

/**
 * Returns `path` relative to `root` (`''` for the root itself), or null if it is not below it: `/ab` is not below `/a`.
 */
export function relativeTo(path: string, root: string): string | null {
  if (path === root) return ''
  const prefix = root === '/' ? '/' : `${root}/`
  return path.startsWith(prefix) ? path.slice(prefix.length) : null
}

/** Reports whether `path` is `root` or below it. */
export function isWithin(path: string, root: string): boolean {
  return relativeTo(path, root) !== null
}

/** Returns the path of an entry in a canonical directory path. */
export function child(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}

/** Returns the ancestors of a canonical path, from the root down, without the path itself. */
export function ancestors(path: string): string[] {
  const found = path === '/' ? [] : ['/']
  for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) {
    found.push(path.slice(0, end))
  }
  return found
}

function canonicalSegments(path: string): string[] {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return names
}

function isCanonical(path: string): boolean {
  return path === '/' || !/\/(?:\/|\.?\.?(?:\/|$))/.test(path)
}

/**
 * Reports whether a path is certainly canonical and storable, without allocation. True for nearly every path: absolute, no
 * empty names or leading dots, only storable characters, and a length at which no name is too long. False means that the
 * slow checks decide.
 */
function isPlain(path: string): boolean {
  if (typeof path !== 'string') return false
  const length = path.length
  if (length * 3 > MAX_NAME_BYTES || path.charCodeAt(0) !== SLASH) return false
  let previous = 0
  for (let at = 0; at < length; at++) {
    const unit = path.charCodeAt(at)
    if (unit === 0 || unit >= FIRST_SURROGATE) return false
    if (previous === SLASH && (unit === SLASH || unit === DOT)) return false
    previous = unit
  }
  return previous !== SLASH || length === 1
}

function assertAbsolute(path: string): void {
  if (typeof path !== 'string' || path.charCodeAt(0) !== SLASH) {
    throw createInvalidPathError(String(path), 'the path is not absolute; start it with /')
  }
}

function assertNames(path: string, op?: string): void {
  if (path.includes('\0')) throw createInvalidPathError(path, 'the path has a NUL byte', op)
  if (!path.isWellFormed()) throw createInvalidPathError(path, 'the path is not valid Unicode', op)
  // A UTF-16 unit takes three bytes at most, so only a path this long can hold a name that is too long.
  if (path.length * 3 <= MAX_NAME_BYTES) return
  for (const name of path.split('/')) {
    if (name.length * 3 > MAX_NAME_BYTES && countUtf8Bytes(name) > MAX_NAME_BYTES) {
      throw createInvalidPathError(path, `a name is longer than ${MAX_NAME_BYTES} bytes`, op)
    }
  }
}

function createInvalidPathError(path: string, detail: string, op?: string): VfsError {
  return new VfsError('EINVAL', path, { detail, ...(op !== undefined && { op }) })
}
