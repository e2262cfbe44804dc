import { constants } from 'node:fs'
import { VfsError } from '../../../vfs/index.ts'
import { type Coroutine, waitFor } from '../coroutine.ts'
import { type OpenFlags, parseFlags } from '../flags.ts'
import {
  assertParent,
  type FsContext,
  isSameFile,
  lstatIfPresent,
  statFollowed,
  statIfPresent,
} from '../fs-context.ts'
import type { FileSource } from '../fs-driver.ts'
import { definePathOperation, defineTwoPathOperation, type FsOperation } from '../fs-operation.ts'
import { createNodeError, getErrorCode } from '../node-error.ts'
import type { OpenNodeFile } from '../open-node-file.ts'
import { getOption, parseCount, parseEncoding, parseMode } from '../parse-arguments.ts'
import { requireBytes, toFileSource } from '../write-data.ts'
import { openPath } from './open-operations.ts'

/** Default permissions of a new file. */
const DEFAULT_MODE = 0o644

export const readFile: FsOperation<string | Buffer> = function* (site, target, options) {
  assertNotAborted(options)
  const encoding = parseEncoding(options)
  const file = findOpenFile(site, target, 'read')
  const bytes = file === undefined ? yield* readAtPath(site, target, options) : yield* file.readRest()
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return encoding === undefined || encoding === 'buffer' ? content : content.toString(encoding)
}

const readAtPath = definePathOperation<Uint8Array>('open', function* (site, path, options) {
  const flags = parseFlags(getOption(options, 'flag'), 'r')
  if (flags.create || flags.write) return yield* withOpen(site, path, flags, 0o666, (file) => file.readRest())
  try {
    return yield* waitFor(site.driver.readFile(path))
  } catch (error) {
    // A directory can be opened; the read fails.
    throw getErrorCode(error) === 'EISDIR' ? createNodeError('EISDIR', { syscall: 'read' }, error) : error
  }
})

export const writeFile: FsOperation<void> = function* (site, target, data, options) {
  assertNotAborted(options)
  const content = toFileSource(data, options)
  const file = findOpenFile(site, target, 'write')
  if (file === undefined) yield* writeAtPath(site, target, content, options, 'w')
  else yield* writeAll(file, content)
}

export const appendFile: FsOperation<void> = function* (site, target, data, options) {
  const content = requireBytes(data, options)
  const file = findOpenFile(site, target, 'write')
  if (file === undefined) yield* writeAtPath(site, target, content, options, 'a')
  else yield* writeAll(file, content)
}

function writeAtPath(
  site: FsContext,
  target: unknown,
  content: FileSource,
  options: unknown,
  flag: string,
): Coroutine<void> {
  const flags = parseFlags(getOption(options, 'flag'), flag)
  const mode = parseMode(getOption(options, 'mode'), 0o666)
  return definePathOperation<void>('open', (_, path) => storeContent(site, path, content, flags, mode))(
    site,
    target,
  )
}

function* storeContent(
  site: FsContext,
  path: string,
  content: FileSource,
  flags: OpenFlags,
  mode: number,
): Coroutine<void> {
  const isWhole = flags.create && flags.truncate && flags.write
  if (isWhole && !flags.exclusive) return yield* replaceContent(site, path, content, mode)
  if (isWhole && (yield* lstatIfPresent(site, path)) !== undefined) {
    throw new VfsError('EEXIST', path)
  }
  const isAddition = flags.append && flags.create && !flags.exclusive && content instanceof Uint8Array
  if (isAddition && (yield* statIfPresent(site, path))?.type === 'file') {
    return yield* waitFor(site.driver.append(path, content))
  }
  yield* withOpen(site, path, flags, mode, (file) => writeAll(file, content))
}

/** Replaces the content atomically in place of truncating first. */
function* replaceContent(site: FsContext, path: string, content: FileSource, given: number): Coroutine<void> {
  if (path.endsWith('/')) throw new VfsError('EISDIR', path)
  const mode = given & ~site.owner.umask
  const isNew = mode !== DEFAULT_MODE && (yield* statIfPresent(site, path)) === undefined
  yield* waitFor(site.driver.writeFile(path, content, isNew ? { mode } : {}))
}

function* withOpen<T>(
  site: FsContext,
  path: string,
  flags: OpenFlags,
  mode: number,
  use: (file: OpenNodeFile) => Coroutine<T>,
): Coroutine<T> {
  const file = yield* openPath(site, path, flags, mode)
  try {
    return yield* use(file)
  } finally {
    yield* file.close()
  }
}

function* writeAll(file: OpenNodeFile, content: FileSource): Coroutine<void> {
  if (content instanceof Uint8Array) {
    if (content.length > 0) yield* file.write(content, null)
    return
  }
  const pieces = content[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = yield* waitFor(pieces.next())
    if (done) return
    yield* file.write(requireBytes(value, undefined), null)
  }
}

export const truncate: FsOperation<void> = definePathOperation('open', function* (site, path, length) {
  const size = parseCount(length, 'len', 0)
  yield* withOpen(site, path, parseFlags('r+', 'r+'), 0, (file) => file.truncate(size))
})

export const copyFile: FsOperation<void> = defineTwoPathOperation(
  'copyfile',
  function* (site, from, second, mode) {
    const flags = parseCount(mode, 'mode', 0)
    const source = yield* statFollowed(site, from)
    const to = yield* second
    if (source.type === 'directory') throw new VfsError('EISDIR', from)
    if ((flags & constants.COPYFILE_FICLONE_FORCE) !== 0) throw new VfsError('ENOTSUP', to)
    const isExclusive = (flags & constants.COPYFILE_EXCL) !== 0
    if (isExclusive && (yield* lstatIfPresent(site, to)) !== undefined) throw new VfsError('EEXIST', to)
    const target = yield* statIfPresent(site, to)
    if (target?.type === 'directory') throw new VfsError('EISDIR', to)
    if (target !== undefined && (yield* isSameFile(site, from, to))) return
    yield* assertParent(site, to, 'EISDIR')
    const bits = source.mode === null ? {} : { mode: source.mode }
    yield* waitFor(site.driver.copyFile(from, to, { exclusive: isExclusive, ...bits }))
  },
)

/** Returns the open file of a number or a `FileHandle`; undefined for a path. */
function findOpenFile(site: FsContext, target: unknown, syscall: string): OpenNodeFile | undefined {
  if (typeof target === 'number') return site.descriptors.get(target, syscall)
  const fd = target instanceof Uint8Array || target instanceof URL ? undefined : getOption(target, 'fd')
  return typeof fd === 'number' ? site.descriptors.get(fd, syscall) : undefined
}

function assertNotAborted(options: unknown): void {
  const signal = getOption(options, 'signal')
  if (!(signal instanceof AbortSignal) || !signal.aborted) return
  const error = new Error('The operation was aborted', { cause: signal.reason })
  throw Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}
