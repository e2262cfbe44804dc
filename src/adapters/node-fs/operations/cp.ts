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
export const cp: FsOperation<void> = function* (site, src, dest, given) {
  const options: CpOptions = {
    isRecursive: isOptionSet(given, 'recursive'),
    isForced: getOption(given, 'force') !== false,
    failsOnExisting: isOptionSet(given, 'errorOnExist'),
    followsLinks: isOptionSet(given, 'dereference'),
    keepsTimes: isOptionSet(given, 'preserveTimestamps'),
    keepsTargets: isOptionSet(given, 'verbatimSymlinks'),
    mode: getOption(given, 'mode'),
    filter: getOption(given, 'filter'),
  }
  yield* copyOne(site, parsePath(src, 'src'), parsePath(dest, 'dest'), options)
}

function* copyOne(site: FsContext, src: string, dest: string, options: CpOptions): Coroutine<void> {
  const pair = yield* withNodeErrors(
    site,
    { syscall: 'lstat', path: src },
    resolvePair(site, src, dest, options),
  )
  assertApart(pair)
  if (!(yield* passesFilter(pair, options))) return
  if (pair.target === undefined) yield* mkdir(site, dirname(pair.to), { recursive: true })
  if (pair.source.type === 'directory') yield* copyDirectory(site, pair, options)
  else if (pair.source.type === 'symlink') yield* copyLink(site, pair, options)
  else yield* copyContent(site, pair, options)
}

function* resolvePair(site: FsContext, src: string, dest: string, options: CpOptions): Coroutine<CopyPair> {
  const from = yield* resolvePath(site, src)
  const to = yield* resolveDestination(site, dest)
  const source = options.followsLinks
    ? yield* statFollowed(site, from)
    : yield* waitFor(site.driver.lstat(from))
  const target = options.followsLinks ? yield* statIfPresent(site, to) : yield* lstatIfPresent(site, to)
  if (target === undefined && (yield* isBelowFile(site, to))) throw new VfsError('ENOTDIR', to)
  return { src, dest, from, to, source, target }
}

/** Resolves the target and creates missing parents. */
function* resolveDestination(site: FsContext, dest: string): Coroutine<string> {
  try {
    return normalize(yield* resolvePath(site, dest))
  } catch (error) {
    if (getErrorCode(error) !== 'ENOENT') throw error
    return resolve(site.cwd, dest)
  }
}

function assertApart({ src, dest, from, to, source, target }: CopyPair): void {
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

function* copyDirectory(site: FsContext, pair: CopyPair, options: CpOptions): Coroutine<void> {
  const { src, dest, from, source, target } = pair
  if (!options.isRecursive) {
    const message = `Recursive option not enabled, cannot copy a directory: ${src}`
    throw createCheckError('ERR_FS_EISDIR', message, { syscall: 'cp', path: src })
  }
  // List before copying: a link may lead the copy back into its source.
  const names = yield* waitFor(site.driver.readdir(from))
  if (target === undefined) yield* mkdir(site, dest)
  for (const { name } of names) yield* copyOne(site, join(src, name), join(dest, name), options)
  if (target === undefined && source.mode !== null) {
    yield* waitFor(site.driver.setattr(pair.to, { mode: source.mode }))
  }
}

function* copyContent(site: FsContext, pair: CopyPair, options: CpOptions): Coroutine<void> {
  if (!(yield* clearTarget(site, pair, options))) return
  const { src, dest, source } = pair
  yield* copyFile(site, src, dest, options.mode)
  if (options.keepsTimes) yield* utimes(site, dest, source.mtime, source.mtime)
}

function* copyLink(site: FsContext, pair: CopyPair, options: CpOptions): Coroutine<void> {
  const { from, to, target } = pair
  const text = yield* waitFor(site.driver.readlink(from))
  const leadsTo = options.keepsTargets ? text : resolve(dirname(from), text)
  if (target?.type === 'symlink') {
    yield* assertReplaceable(site, pair, resolve(site.cwd, leadsTo))
    yield* unlink(site, to)
  }
  yield* symlink(site, leadsTo, to)
}

/** Refuses to replace a link by one that is broken, or whose directory contains or lies in the other's target. */
function* assertReplaceable(
  site: FsContext,
  { src, dest, from, to }: CopyPair,
  leadsTo: string,
): Coroutine<void> {
  const source = yield* withNodeErrors(site, { syscall: 'stat', path: src }, statFollowed(site, from))
  if (source.type !== 'directory') return
  const before = resolve(dirname(to), yield* waitFor(site.driver.readlink(to)))
  const call = { syscall: 'cp', path: dest }
  if (isWithin(before, leadsTo)) {
    throw createCheckError(
      'ERR_FS_CP_EINVAL',
      `cannot copy ${leadsTo} to a subdirectory of self ${before}`,
      call,
    )
  }
  if (isWithin(leadsTo, before)) {
    const message = `cannot overwrite ${before} with ${leadsTo}`
    throw createCheckError('ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', message, call)
  }
}

/** Clears the target for a file; returns false if the existing one stays. */
function* clearTarget(
  site: FsContext,
  { dest, to, target }: CopyPair,
  options: CpOptions,
): Coroutine<boolean> {
  if (target === undefined) return true
  if (options.isForced) {
    yield* unlink(site, to)
    return true
  }
  if (!options.failsOnExisting) return false
  throw createCheckError('ERR_FS_CP_EEXIST', `Target already exists: ${dest}`, { syscall: 'cp', path: dest })
}
