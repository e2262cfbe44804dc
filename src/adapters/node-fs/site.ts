import {
  ancestors,
  dirname,
  type ErrorCode,
  isVfsError,
  normalize,
  type SyncStat,
  VfsError,
} from '../../vfs/index.ts'
import type { Descriptors } from './descriptors.ts'
import type { Ground } from './ground.ts'
import { type Asked, asNodeError, codeOf, nodeError } from './node-error.ts'
import type { Ownership } from './stats.ts'
import { type Steps, settled } from './steps.ts'

const LONGEST_NAME_BYTES = 255

/** What an operation works on: the files, and what belongs to the `fs` object that was asked. */
export interface Site {
  readonly ground: Ground
  readonly cwd: string
  readonly owner: Ownership
  readonly descriptors: Descriptors
}

/** The stat of a path with its links followed. */
export function* followed({ ground }: Site, path: string): Steps<SyncStat> {
  const stat = yield* settled(ground.lstat(path))
  if (stat.type !== 'symlink') return stat
  return yield* settled(ground.lstat(yield* settled(ground.realpath(path))))
}

/** The stat of a path, or undefined if nothing is there. */
export function* lstatIfPresent({ ground }: Site, path: string): Steps<SyncStat | undefined> {
  try {
    return yield* settled(ground.lstat(path))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** The same with links followed; a link that leads nowhere is nothing. */
export function* followedIfPresent(site: Site, path: string): Steps<SyncStat | undefined> {
  try {
    return yield* followed(site, path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export function isMissing(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/**
 * ENOENT or ENOTDIR if a new name cannot be made at the path, for file systems that would make the parents.
 * @param ofSlash the code for a path with a slash at its end, where only a directory could be made.
 */
export function* assertParent(site: Site, path: string, ofSlash: ErrorCode = 'ENOENT'): Steps<void> {
  if (path.endsWith('/')) throw new VfsError(ofSlash, path)
  const parent = yield* followedIfPresent(site, dirname(path))
  if (parent?.type === 'directory') return
  throw new VfsError(parent === undefined ? 'ENOENT' : 'ENOTDIR', path)
}

/**
 * The canonical path of what the caller named, as the kernel reads it: `..` leaves the directory that a link led
 * into, and what is followed by a slash has to be a directory; if nothing is there, it keeps its slash.
 */
export function* located(site: Site, given: string): Steps<string> {
  if (given === '') throw new VfsError('ENOENT', given)
  const whole = given.startsWith('/') ? given : `${site.cwd}/${given}`
  assertNames(whole)
  const path = /\/\.\.(?:\/|$)/.test(whole) ? yield* climbed(site, whole) : normalize(whole)
  return /\/\.?$/.test(whole) && path !== '/' ? yield* entered(site, path) : path
}

function* climbed(site: Site, whole: string): Steps<string> {
  let path = '/'
  for (const name of whole.split('/')) {
    if (name === '..') path = dirname(yield* directory(site, path))
    else if (name !== '' && name !== '.') path = path === '/' ? `/${name}` : `${path}/${name}`
  }
  return path
}

/** Where a directory really is. */
function* directory(site: Site, path: string): Steps<string> {
  const { type } = yield* followed(site, path)
  if (type !== 'directory') throw new VfsError('ENOTDIR', path)
  return yield* settled(site.ground.realpath(path))
}

/** A path that ended with a slash: a link to a directory is that directory. */
function* entered(site: Site, path: string): Steps<string> {
  const isThere = (yield* lstatIfPresent(site, path)) !== undefined
  return isThere ? yield* directory(site, path) : `${path}/`
}

function assertNames(path: string): void {
  if (path.length * 3 <= LONGEST_NAME_BYTES) return
  const isLong = (name: string) => Buffer.byteLength(name) > LONGEST_NAME_BYTES
  if (path.split('/').some(isLong)) throw new VfsError('ENAMETOOLONG', path)
}

/** Runs an operation and tells its failures as Node does. */
export function* told<T>(site: Site, asked: Asked, steps: Steps<T>): Steps<T> {
  try {
    return yield* steps
  } catch (error) {
    const isBlocked = isVfsError(error, 'ENOENT') && (yield* blocked(site, error.path))
    throw isBlocked ? nodeError('ENOTDIR', asked, error) : asNodeError(error, asked)
  }
}

/** Whether a missing path lies below something that is no directory: a kernel tells the two apart. */
export function* blocked(site: Site, missing: string): Steps<boolean> {
  for (const path of ancestors(missing).reverse()) {
    const stat = yield* followedIfPresent(site, path)
    if (stat !== undefined) return stat.type !== 'directory'
  }
  return false
}

/** Whether two paths lead to one file. */
export function* isSameFile({ ground }: Site, one: string, other: string): Steps<boolean> {
  const [first, second] = [yield* settled(ground.realpath(one)), yield* settled(ground.realpath(other))]
  if (first === second) return true
  const [a, b] = [yield* settled(ground.lstat(first)), yield* settled(ground.lstat(second))]
  return a.ino !== 0 && a.ino === b.ino
}
