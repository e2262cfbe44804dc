import {
  ancestors,
  dirname,
  type ErrorCode,
  isVfsError,
  normalize,
  type SyncStat,
  VfsError,
} from '../../vfs/index.ts'
import { type Coroutine, waitFor } from './coroutine.ts'
import type { FileDescriptors } from './file-descriptors.ts'
import type { FsDriver } from './fs-driver.ts'
import { createNodeError, getErrorCode, type SyscallInfo, toNodeError } from './node-error.ts'
import type { Ownership } from './stats.ts'

const MAX_NAME_BYTES = 255

/** Context of an operation: the driver and the state of the `fs` object. */
export interface FsContext {
  readonly driver: FsDriver
  readonly cwd: string
  readonly owner: Ownership
  readonly descriptors: FileDescriptors
}

/** Returns the stat of a path with its links followed. */
export function* statFollowed({ driver }: FsContext, path: string): Coroutine<SyncStat> {
  const stat = yield* waitFor(driver.lstat(path))
  if (stat.type !== 'symlink') return stat
  return yield* waitFor(driver.lstat(yield* waitFor(driver.realpath(path))))
}

/** Returns the stat of a path, or undefined if it is missing. */
export function* lstatIfPresent({ driver }: FsContext, path: string): Coroutine<SyncStat | undefined> {
  try {
    return yield* waitFor(driver.lstat(path))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Like `lstatIfPresent`, with links followed; a broken link is missing. */
export function* statIfPresent(context: FsContext, path: string): Coroutine<SyncStat | undefined> {
  try {
    return yield* statFollowed(context, path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  const code = getErrorCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * Asserts that the parent of a new name is a directory, for file systems that would create it. ENOENT, ENOTDIR.
 * @param slashCode the code for a path with a trailing slash, which only a directory could have.
 */
export function* assertParent(
  context: FsContext,
  path: string,
  slashCode: ErrorCode = 'ENOENT',
): Coroutine<void> {
  if (path.endsWith('/')) throw new VfsError(slashCode, path)
  const parent = yield* statIfPresent(context, dirname(path))
  if (parent?.type === 'directory') return
  throw new VfsError(parent === undefined ? 'ENOENT' : 'ENOTDIR', path)
}

/**
 * Resolves a path as the kernel does: `..` leaves the directory that a link led into, and a trailing slash
 * requires a directory; a missing path keeps its slash.
 */
export function* resolvePath(context: FsContext, given: string): Coroutine<string> {
  if (given === '') throw new VfsError('ENOENT', given)
  const whole = given.startsWith('/') ? given : `${context.cwd}/${given}`
  assertNames(whole)
  const path = /\/\.\.(?:\/|$)/.test(whole) ? yield* resolveDotDot(context, whole) : normalize(whole)
  return /\/\.?$/.test(whole) && path !== '/' ? yield* resolveTrailingSlash(context, path) : path
}

function* resolveDotDot(context: FsContext, whole: string): Coroutine<string> {
  let path = '/'
  for (const name of whole.split('/')) {
    if (name === '..') path = dirname(yield* resolveDirectory(context, path))
    else if (name !== '' && name !== '.') path = path === '/' ? `/${name}` : `${path}/${name}`
  }
  return path
}

/** Resolves the links of a directory. */
function* resolveDirectory(context: FsContext, path: string): Coroutine<string> {
  const { type } = yield* statFollowed(context, path)
  if (type !== 'directory') throw new VfsError('ENOTDIR', path)
  return yield* waitFor(context.driver.realpath(path))
}

/** Resolves a path that ended with a slash: a link to a directory is that directory. */
function* resolveTrailingSlash(context: FsContext, path: string): Coroutine<string> {
  const isPresent = (yield* lstatIfPresent(context, path)) !== undefined
  return isPresent ? yield* resolveDirectory(context, path) : `${path}/`
}

function assertNames(path: string): void {
  if (path.length * 3 <= MAX_NAME_BYTES) return
  const isLong = (name: string) => Buffer.byteLength(name) > MAX_NAME_BYTES
  if (path.split('/').some(isLong)) throw new VfsError('ENAMETOOLONG', path)
}

/** Runs an operation and converts its errors to Node's. */
export function* withNodeErrors<T>(context: FsContext, call: SyscallInfo, steps: Coroutine<T>): Coroutine<T> {
  try {
    return yield* steps
  } catch (error) {
    const isBlocked = isVfsError(error, 'ENOENT') && (yield* isBelowFile(context, error.path))
    throw isBlocked ? createNodeError('ENOTDIR', call, error) : toNodeError(error, call)
  }
}

/** True if a missing path lies below a non-directory: a kernel distinguishes the two. */
export function* isBelowFile(context: FsContext, missing: string): Coroutine<boolean> {
  for (const path of ancestors(missing).reverse()) {
    const stat = yield* statIfPresent(context, path)
    if (stat !== undefined) return stat.type !== 'directory'
  }
  return false
}

/** True if two paths lead to one file. */
export function* isSameFile({ driver }: FsContext, one: string, other: string): Coroutine<boolean> {
  const [first, second] = [yield* waitFor(driver.realpath(one)), yield* waitFor(driver.realpath(other))]
  if (first === second) return true
  const [a, b] = [yield* waitFor(driver.lstat(first)), yield* waitFor(driver.lstat(second))]
  return a.ino !== 0 && a.ino === b.ino
}
