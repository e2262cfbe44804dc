import { join } from 'node:path/posix'
import { dirname, isWithin, normalize, resolve, type SyncStat, VfsError } from '../../../vfs/index.ts'
import { type Coroutine, waitFor } from '../coroutine.ts'
import {
  type FsContext,
  isBelowFile,
  lstatIfPresent,
  resolvePath,
  statFollowed,
  statIfPresent,
  withNodeErrors,
} from '../fs-context.ts'
import type { FsOperation } from '../fs-operation.ts'
import { createCheckError, getErrorCode } from '../node-error.ts'
import { getOption, isOptionSet, parsePath } from '../parse-arguments.ts'
import { utimes } from './attribute-operations.ts'
import { copyFile } from './content-operations.ts'
import { mkdir, symlink, unlink } from './name-operations.ts'

/** A source and a target, as given and as resolved. */
interface CopyPair {
  readonly src: string
  readonly dest: string
  readonly from: string
  readonly to: string
  readonly source: SyncStat
  readonly target: SyncStat | undefined
}

interface CpOptions {
  readonly isRecursive: boolean
  readonly isForced: boolean
  readonly failsOnExisting: boolean
  readonly followsLinks: boolean
  readonly keepsTimes: boolean
  readonly keepsTargets: boolean
  readonly mode: unknown
  readonly filter: unknown
}

/** Copies a file or a tree as `fs.cp` does, with its options and the codes of its checks. */
export const cp: FsOperation<void> = function* (context, src, dest, cpOptions) {
  const options: CpOptions = {
    isRecursive: isOptionSet(cpOptions, 'recursive'),
    isForced: getOption(cpOptions, 'force') !== false,
    failsOnExisting: isOptionSet(cpOptions, 'errorOnExist'),
    followsLinks: isOptionSet(cpOptions, 'dereference'),
    keepsTimes: isOptionSet(cpOptions, 'preserveTimestamps'),
    keepsTargets: isOptionSet(cpOptions, 'verbatimSymlinks'),
    mode: getOption(cpOptions, 'mode'),
    filter: getOption(cpOptions, 'filter'),
  }
  yield* copyOne(context, parsePath(src, 'src'), parsePath(dest, 'dest'), options)
}

function* copyOne(context: FsContext, src: string, dest: string, options: CpOptions): Coroutine<void> {
  const pair = yield* withNodeErrors(
    context,
    { syscall: 'lstat', path: src },
    resolvePair(context, src, dest, options),
  )
  assertCopyable(pair)
  if (!(yield* passesFilter(pair, options))) return
  if (pair.target === undefined) yield* mkdir(context, dirname(pair.to), { recursive: true })
  if (pair.source.type === 'directory') yield* copyDirectory(context, pair, options)
  else if (pair.source.type === 'symlink') yield* copyLink(context, pair, options)
  else yield* copyContent(context, pair, options)
}

function* resolvePair(
  context: FsContext,
  src: string,
  dest: string,
  options: CpOptions,
): Coroutine<CopyPair> {
  const from = yield* resolvePath(context, src)
  const to = yield* resolveDestination(context, dest)
  const source = options.followsLinks
    ? yield* statFollowed(context, from)
    : yield* waitFor(context.driver.lstat(from))
  const target = options.followsLinks ? yield* statIfPresent(context, to) : yield* lstatIfPresent(context, to)
  if (target === undefined && (yield* isBelowFile(context, to))) throw new VfsError('ENOTDIR', to)
  return { src, dest, from, to, source, target }
}

/** Resolves the target. A path with missing parents is resolved by its text alone. */
function* resolveDestination(context: FsContext, dest: string): Coroutine<string> {
  try {
    return normalize(yield* resolvePath(context, dest))
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT') throw error
    return resolve(context.cwd, dest)
  }
}

/** Refuses to copy onto itself or into itself, and between a directory and anything else. */
function assertCopyable({ src, dest, from, to, source, target }: CopyPair): void {
  const call = { syscall: 'cp', path: dest }
  const isDirectory = source.type === 'directory'
  if (from === to || (target !== undefined && source.ino !== 0 && source.ino === target.ino)) {
    throw createCheckError('ERR_FS_CP_EINVAL', `src and dest cannot be the same ${dest}`, call)
  }
  if (target !== undefined && isDirectory && target.type !== 'directory') {
    const message = `Cannot overwrite non-directory ${dest} with directory ${src}`
    throw createCheckError('ERR_FS_CP_DIR_TO_NON_DIR', message, call)
  }
  if (target?.type === 'directory' && !isDirectory) {
    const message = `Cannot overwrite directory ${dest} with non-directory ${src}`
    throw createCheckError('ERR_FS_CP_NON_DIR_TO_DIR', message, call)
  }
  if (isDirectory && isWithin(to, from)) {
    throw createCheckError('ERR_FS_CP_EINVAL', `Cannot copy ${src} to a subdirectory of self ${dest}`, call)
  }
}

function* passesFilter({ src, dest }: CopyPair, { filter }: CpOptions): Coroutine<boolean> {
  if (typeof filter !== 'function') return true
  const verdict: unknown = filter(src, dest)
  return Boolean(yield* waitFor(verdict))
}

function* copyDirectory(context: FsContext, pair: CopyPair, options: CpOptions): Coroutine<void> {
  const { src, dest, from, source, target } = pair
  if (!options.isRecursive) {
    const message = `Recursive option not enabled, cannot copy a directory: ${src}`
    throw createCheckError('ERR_FS_EISDIR', message, { syscall: 'cp', path: src })
  }
  // List before copying: a link may lead the copy back into its source.
  const names = yield* waitFor(context.driver.readdir(from))
  if (target === undefined) yield* mkdir(context, dest)
  for (const { name } of names) yield* copyOne(context, join(src, name), join(dest, name), options)
  if (target === undefined && source.mode !== null) {
    yield* waitFor(context.driver.setattr(pair.to, { mode: source.mode }))
  }
}

function* copyContent(context: FsContext, pair: CopyPair, options: CpOptions): Coroutine<void> {
  if (!(yield* clearTarget(context, pair, options))) return
  const { src, dest, source } = pair
  yield* copyFile(context, src, dest, options.mode)
  if (options.keepsTimes) yield* utimes(context, dest, source.mtime, source.mtime)
}

function* copyLink(context: FsContext, pair: CopyPair, options: CpOptions): Coroutine<void> {
  const { from, to, target } = pair
  const text = yield* waitFor(context.driver.readlink(from))
  const linkTarget = options.keepsTargets ? text : resolve(dirname(from), text)
  if (target?.type === 'symlink') {
    yield* assertReplaceable(context, pair, resolve(context.cwd, linkTarget))
    yield* unlink(context, to)
  }
  yield* symlink(context, linkTarget, to)
}

/** Refuses to replace a link by one that is broken, or whose directory contains or lies in the other's target. */
function* assertReplaceable(
  context: FsContext,
  { src, dest, from, to }: CopyPair,
  linkTarget: string,
): Coroutine<void> {
  const source = yield* withNodeErrors(context, { syscall: 'stat', path: src }, statFollowed(context, from))
  if (source.type !== 'directory') return
  const currentTarget = resolve(dirname(to), yield* waitFor(context.driver.readlink(to)))
  const call = { syscall: 'cp', path: dest }
  if (isWithin(currentTarget, linkTarget)) {
    throw createCheckError(
      'ERR_FS_CP_EINVAL',
      `cannot copy ${linkTarget} to a subdirectory of self ${currentTarget}`,
      call,
    )
  }
  if (isWithin(linkTarget, currentTarget)) {
    const message = `cannot overwrite ${currentTarget} with ${linkTarget}`
    throw createCheckError('ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', message, call)
  }
}

/** Removes the target if `force` allows it; returns false if it stays, or throws with `errorOnExist`. */
function* clearTarget(
  context: FsContext,
  { dest, to, target }: CopyPair,
  options: CpOptions,
): Coroutine<boolean> {
  if (target === undefined) return true
  if (options.isForced) {
    yield* unlink(context, to)
    return true
  }
  if (!options.failsOnExisting) return false
  throw createCheckError('ERR_FS_CP_EEXIST', `Target already exists: ${dest}`, { syscall: 'cp', path: dest })
}
