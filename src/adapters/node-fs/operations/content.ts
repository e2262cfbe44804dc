import { constants } from 'node:fs'
import { VfsError } from '../../../vfs/index.ts'
import { countOf, encodingOf, modeOf, setting } from '../arguments.ts'
import { bytesToWrite, dataOf } from '../data.ts'
import { type Flags, flagsOf } from '../flags.ts'
import type { Written } from '../ground.ts'
import { codeOf, nodeError } from '../node-error.ts'
import type { OpenFile } from '../open-file.ts'
import { type Operation, onPath, onTwoPaths } from '../operation.ts'
import { assertParent, followed, followedIfPresent, isSameFile, lstatIfPresent, type Site } from '../site.ts'
import { type Steps, settled } from '../steps.ts'
import { opened } from './open.ts'

/** The permissions of a new file in every file system of ours. */
const DEFAULT_MODE = 0o644

export const readFile: Operation<string | Buffer> = function* (site, target, options) {
  assertNotAborted(options)
  const encoding = encodingOf(options)
  const file = fileOf(site, target, 'read')
  const bytes = file === undefined ? yield* readPath(site, target, options) : yield* file.readRest()
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return encoding === undefined || encoding === 'buffer' ? content : content.toString(encoding)
}

const readPath = onPath<Uint8Array>('open', function* (site, path, options) {
  const flags = flagsOf(setting(options, 'flag'), 'r')
  if (flags.create || flags.write) return yield* withOpen(site, path, flags, 0o666, (file) => file.readRest())
  try {
    return yield* settled(site.ground.readFile(path))
  } catch (error) {
    // A directory can be opened; it is the read that fails.
    throw codeOf(error) === 'EISDIR' ? nodeError('EISDIR', { syscall: 'read' }, error) : error
  }
})

export const writeFile: Operation<void> = function* (site, target, data, options) {
  assertNotAborted(options)
  const content = dataOf(data, options)
  const file = fileOf(site, target, 'write')
  if (file === undefined) yield* writePath(site, target, content, options, 'w')
  else yield* writeAll(file, content)
}

export const appendFile: Operation<void> = function* (site, target, data, options) {
  const content = bytesToWrite(data, options)
  const file = fileOf(site, target, 'write')
  if (file === undefined) yield* writePath(site, target, content, options, 'a')
  else yield* writeAll(file, content)
}

function writePath(
  site: Site,
  target: unknown,
  content: Written,
  options: unknown,
  flag: string,
): Steps<void> {
  const flags = flagsOf(setting(options, 'flag'), flag)
  const mode = modeOf(setting(options, 'mode'), 0o666)
  return onPath<void>('open', (_, path) => store(site, path, content, flags, mode))(site, target)
}

function* store(site: Site, path: string, content: Written, flags: Flags, mode: number): Steps<void> {
  const isWhole = flags.create && flags.truncate && flags.write
  if (isWhole && !flags.exclusive) return yield* replace(site, path, content, mode)
  if (isWhole && (yield* lstatIfPresent(site, path)) !== undefined) {
    throw new VfsError('EEXIST', path)
  }
  const isAddition = flags.append && flags.create && !flags.exclusive && content instanceof Uint8Array
  if (isAddition && (yield* followedIfPresent(site, path))?.type === 'file') {
    return yield* settled(site.ground.append(path, content))
  }
  yield* withOpen(site, path, flags, mode, (file) => writeAll(file, content))
}

/** All or nothing, in place of emptying the file first. */
function* replace(site: Site, path: string, content: Written, given: number): Steps<void> {
  if (path.endsWith('/')) throw new VfsError('EISDIR', path)
  const mode = given & ~site.owner.umask
  const isNew = mode !== DEFAULT_MODE && (yield* followedIfPresent(site, path)) === undefined
  yield* settled(site.ground.writeFile(path, content, isNew ? { mode } : {}))
}

function* withOpen<T>(
  site: Site,
  path: string,
  flags: Flags,
  mode: number,
  use: (file: OpenFile) => Steps<T>,
): Steps<T> {
  const file = yield* opened(site, path, flags, mode)
  try {
    return yield* use(file)
  } finally {
    yield* file.close()
  }
}

function* writeAll(file: OpenFile, content: Written): Steps<void> {
  if (content instanceof Uint8Array) {
    if (content.length > 0) yield* file.write(content, null)
    return
  }
  const pieces = content[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = yield* settled(pieces.next())
    if (done) return
    yield* file.write(bytesToWrite(value, undefined), null)
  }
}

export const truncate: Operation<void> = onPath('open', function* (site, path, length) {
  const size = countOf(length, 'len', 0)
  yield* withOpen(site, path, flagsOf('r+', 'r+'), 0, (file) => file.truncate(size))
})

export const copyFile: Operation<void> = onTwoPaths('copyfile', function* (site, from, second, mode) {
  const flags = countOf(mode, 'mode', 0)
  const source = yield* followed(site, from)
  const to = yield* second
  if (source.type === 'directory') throw new VfsError('EISDIR', from)
  if ((flags & constants.COPYFILE_FICLONE_FORCE) !== 0) throw new VfsError('ENOTSUP', to)
  const isExclusive = (flags & constants.COPYFILE_EXCL) !== 0
  if (isExclusive && (yield* lstatIfPresent(site, to)) !== undefined) throw new VfsError('EEXIST', to)
  const target = yield* followedIfPresent(site, to)
  if (target?.type === 'directory') throw new VfsError('EISDIR', to)
  if (target !== undefined && (yield* isSameFile(site, from, to))) return
  yield* assertParent(site, to, 'EISDIR')
  const bits = source.mode === null ? {} : { mode: source.mode }
  yield* settled(site.ground.copyFile(from, to, { exclusive: isExclusive, ...bits }))
})

/** The open file that is meant by a number or a `FileHandle`; undefined if it is a path. */
function fileOf(site: Site, target: unknown, syscall: string): OpenFile | undefined {
  if (typeof target === 'number') return site.descriptors.get(target, syscall)
  const fd = target instanceof Uint8Array || target instanceof URL ? undefined : setting(target, 'fd')
  return typeof fd === 'number' ? site.descriptors.get(fd, syscall) : undefined
}

function assertNotAborted(options: unknown): void {
  const signal = setting(options, 'signal')
  if (!(signal instanceof AbortSignal) || !signal.aborted) return
  const error = new Error('The operation was aborted', { cause: signal.reason })
  throw Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}
