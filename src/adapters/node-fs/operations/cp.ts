import { join } from 'node:path/posix'
import { dirname, isWithin, normalize, resolve, type SyncStat, VfsError } from '../../../vfs/index.ts'
import { isSet, pathText, setting } from '../arguments.ts'
import { checkError, codeOf } from '../node-error.ts'
import type { Operation } from '../operation.ts'
import { blocked, followed, followedIfPresent, located, lstatIfPresent, type Site, told } from '../site.ts'
import { type Steps, settled } from '../steps.ts'
import { utimes } from './attributes.ts'
import { copyFile } from './content.ts'
import { mkdir, symlink, unlink } from './names.ts'

/** One thing to copy, as the caller would name it, and where it is. */
interface Pair {
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
export const cp: Operation<void> = function* (site, src, dest, given) {
  const options: CpOptions = {
    isRecursive: isSet(given, 'recursive'),
    isForced: setting(given, 'force') !== false,
    failsOnExisting: isSet(given, 'errorOnExist'),
    followsLinks: isSet(given, 'dereference'),
    keepsTimes: isSet(given, 'preserveTimestamps'),
    keepsTargets: isSet(given, 'verbatimSymlinks'),
    mode: setting(given, 'mode'),
    filter: setting(given, 'filter'),
  }
  yield* copyOne(site, pathText(src, 'src'), pathText(dest, 'dest'), options)
}

function* copyOne(site: Site, src: string, dest: string, options: CpOptions): Steps<void> {
  const pair = yield* told(site, { syscall: 'lstat', path: src }, paired(site, src, dest, options))
  assertApart(pair)
  if (!(yield* isWanted(pair, options))) return
  if (pair.target === undefined) yield* mkdir(site, dirname(pair.to), { recursive: true })
  if (pair.source.type === 'directory') yield* copyDirectory(site, pair, options)
  else if (pair.source.type === 'symlink') yield* copyLink(site, pair, options)
  else yield* copyContent(site, pair, options)
}

function* paired(site: Site, src: string, dest: string, options: CpOptions): Steps<Pair> {
  const from = yield* located(site, src)
  const to = yield* destination(site, dest)
  const source = options.followsLinks ? yield* followed(site, from) : yield* settled(site.ground.lstat(from))
  const target = options.followsLinks ? yield* followedIfPresent(site, to) : yield* lstatIfPresent(site, to)
  if (target === undefined && (yield* blocked(site, to))) throw new VfsError('ENOTDIR', to)
  return { src, dest, from, to, source, target }
}

/** Where a copy goes: directories on the way are made if they are missing. */
function* destination(site: Site, dest: string): Steps<string> {
  try {
    return normalize(yield* located(site, dest))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return resolve(site.cwd, dest)
  }
}

function assertApart({ src, dest, from, to, source, target }: Pair): void {
  const asked = { syscall: 'cp', path: dest }
  const isDirectory = source.type === 'directory'
  if (from === to || (target !== undefined && source.ino !== 0 && source.ino === target.ino)) {
    throw checkError('ERR_FS_CP_EINVAL', `src and dest cannot be the same ${dest}`, asked)
  }
  if (target !== undefined && isDirectory && target.type !== 'directory') {
    const message = `Cannot overwrite non-directory ${dest} with directory ${src}`
    throw checkError('ERR_FS_CP_DIR_TO_NON_DIR', message, asked)
  }
  if (target?.type === 'directory' && !isDirectory) {
    const message = `Cannot overwrite directory ${dest} with non-directory ${src}`
    throw checkError('ERR_FS_CP_NON_DIR_TO_DIR', message, asked)
  }
  if (isDirectory && isWithin(to, from)) {
    throw checkError('ERR_FS_CP_EINVAL', `Cannot copy ${src} to a subdirectory of self ${dest}`, asked)
  }
}

function* isWanted({ src, dest }: Pair, { filter }: CpOptions): Steps<boolean> {
  if (typeof filter !== 'function') return true
  const verdict: unknown = filter(src, dest)
  return Boolean(yield* settled(verdict))
}

function* copyDirectory(site: Site, pair: Pair, options: CpOptions): Steps<void> {
  const { src, dest, from, source, target } = pair
  if (!options.isRecursive) {
    const message = `Recursive option not enabled, cannot copy a directory: ${src}`
    throw checkError('ERR_FS_EISDIR', message, { syscall: 'cp', path: src })
  }
  // Listed before the copy is made, which a link may lead back into it.
  const names = yield* settled(site.ground.readdir(from))
  if (target === undefined) yield* mkdir(site, dest)
  for (const { name } of names) yield* copyOne(site, join(src, name), join(dest, name), options)
  if (target === undefined && source.mode !== null) {
    yield* settled(site.ground.setattr(pair.to, { mode: source.mode }))
  }
}

function* copyContent(site: Site, pair: Pair, options: CpOptions): Steps<void> {
  if (!(yield* isCleared(site, pair, options))) return
  const { src, dest, source } = pair
  yield* copyFile(site, src, dest, options.mode)
  if (options.keepsTimes) yield* utimes(site, dest, source.mtime, source.mtime)
}

function* copyLink(site: Site, pair: Pair, options: CpOptions): Steps<void> {
  const { from, to, target } = pair
  const text = yield* settled(site.ground.readlink(from))
  const leadsTo = options.keepsTargets ? text : resolve(dirname(from), text)
  if (target?.type === 'symlink') {
    yield* assertReplaceable(site, pair, resolve(site.cwd, leadsTo))
    yield* unlink(site, to)
  }
  yield* symlink(site, leadsTo, to)
}

/** A link takes the place of another if it leads somewhere, and to no directory that holds what the other leads to, or lies in it. */
function* assertReplaceable(site: Site, { src, dest, from, to }: Pair, leadsTo: string): Steps<void> {
  const source = yield* told(site, { syscall: 'stat', path: src }, followed(site, from))
  if (source.type !== 'directory') return
  const before = resolve(dirname(to), yield* settled(site.ground.readlink(to)))
  const asked = { syscall: 'cp', path: dest }
  if (isWithin(before, leadsTo)) {
    throw checkError('ERR_FS_CP_EINVAL', `cannot copy ${leadsTo} to a subdirectory of self ${before}`, asked)
  }
  if (isWithin(leadsTo, before)) {
    const message = `cannot overwrite ${before} with ${leadsTo}`
    throw checkError('ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY', message, asked)
  }
}

/** Makes room for a file. False: what is there stays. */
function* isCleared(site: Site, { dest, to, target }: Pair, options: CpOptions): Steps<boolean> {
  if (target === undefined) return true
  if (options.isForced) {
    yield* unlink(site, to)
    return true
  }
  if (!options.failsOnExisting) return false
  throw checkError('ERR_FS_CP_EEXIST', `Target already exists: ${dest}`, { syscall: 'cp', path: dest })
}
