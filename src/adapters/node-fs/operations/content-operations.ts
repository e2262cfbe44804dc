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
import { createAbortError, createNodeError, getErrorCode } from '../node-error.ts'
import type { OpenNodeFile } from '../open-node-file.ts'
import { getOption, parseCount, parseEncoding, parseMode } from '../parse-arguments.ts'
import { requireBytes, toFileSource } from '../write-data.ts'
import { openPath } from './open-operations.ts'

/** Default permissions of a new file. */
const DEFAULT_MODE = 0o644

export const readFile: FsOperation<string | Buffer> = function* (context, target, options) {
  assertNotAborted(options)
  const encoding = parseEncoding(options)
  const file = findOpenFile(context, target, 'read')
  const bytes = file === undefined ? yield* readAtPath(context, target, options) : yield* file.readRest()
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return encoding === undefined || encoding === 'buffer' ? content : content.toString(encoding)
}

const readAtPath = definePathOperation<Uint8Array>('open', function* (context, path, options) {
  const flags = parseFlags(getOption(options, 'flag'), 'r')
  if (flags.create || flags.write)
    return yield* withOpen(context, path, flags, 0o666, (file) => file.readRest())
  try {
    return yield* waitFor(context.driver.readFile(path))
  } catch (error) {
    // A directory can be opened; the read fails.
    throw getErrorCode(error) === 'EISDIR' ? createNodeError('EISDIR', { syscall: 'read' }, error) : error
  }
})

export const writeFile: FsOperation<void> = function* (context, target, data, options) {
  assertNotAborted(options)
  const content = toFileSource(data, options)
  const file = findOpenFile(context, target, 'write')
  if (file === undefined) yield* writeAtPath(context, target, content, options, 'w')
  else yield* writeAll(file, content)
}

export const appendFile: FsOperation<void> = function* (context, target, data, options) {
  const content = requireBytes(data, options)
  const file = findOpenFile(context, target, 'write')
  if (file === undefined) yield* writeAtPath(context, target, content, options, 'a')
  else yield* writeAll(file, content)
}

function writeAtPath(
  context: FsContext,
  target: unknown,
  content: FileSource,
  options: unknown,
  flag: string,
): Coroutine<void> {
  const flags = parseFlags(getOption(options, 'flag'), flag)
  const mode = parseMode(getOption(options, 'mode'), 0o666)
  return definePathOperation<void>('open', (_, path) => storeContent(context, path, content, flags, mode))(
    context,
    target,
  )
}

function* storeContent(
  context: FsContext,
  path: string,
  content: FileSource,
  flags: OpenFlags,
  mode: number,
): Coroutine<void> {
  const isWhole = flags.create && flags.truncate && flags.write
  if (isWhole && !flags.exclusive) return yield* replaceContent(context, path, content, mode)
  if (isWhole && (yield* lstatIfPresent(context, path)) !== undefined) {
    throw new VfsError('EEXIST', path)
  }
  const isAddition = flags.append && flags.create && !flags.exclusive && content instanceof Uint8Array
  if (isAddition && (yield* statIfPresent(context, path))?.type === 'file') {
    return yield* waitFor(context.driver.append(path, content))
  }
  yield* withOpen(context, path, flags, mode, (file) => writeAll(file, content))
}

/** Replaces the whole content in one write, rather than truncating first. */
function* replaceContent(
  context: FsContext,
  path: string,
  content: FileSource,
  requestedMode: number,
): Coroutine<void> {
  if (path.endsWith('/')) throw new VfsError('EISDIR', path)
  const mode = requestedMode & ~context.owner.umask
  const isNew = mode !== DEFAULT_MODE && (yield* statIfPresent(context, path)) === undefined
  yield* waitFor(context.driver.writeFile(path, content, isNew ? { mode } : {}))
}

function* withOpen<T>(
  context: FsContext,
  path: string,
  flags: OpenFlags,
  mode: number,
  use: (file: OpenNodeFile) => Coroutine<T>,
): Coroutine<T> {
  const file = yield* openPath(context, path, flags, mode)
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

export const truncate: FsOperation<void> = definePathOperation('open', function* (context, path, length) {
  const size = parseCount(length, 'len', 0)
  yield* withOpen(context, path, parseFlags('r+', 'r+'), 0, (file) => file.truncate(size))
})

export const copyFile: FsOperation<void> = defineTwoPathOperation(
  'copyfile',
  function* (context, from, destination, mode) {
    const flags = parseCount(mode, 'mode', 0)
    const source = yield* statFollowed(context, from)
    const to = yield* destination
    if (source.type === 'directory') throw new VfsError('EISDIR', from)
    if ((flags & constants.COPYFILE_FICLONE_FORCE) !== 0) throw new VfsError('ENOTSUP', to)
    const isExclusive = (flags & constants.COPYFILE_EXCL) !== 0
    if (isExclusive && (yield* lstatIfPresent(context, to)) !== undefined) throw new VfsError('EEXIST', to)
    const target = yield* statIfPresent(context, to)
    if (target?.type === 'directory') throw new VfsError('EISDIR', to)
    if (target !== undefined && (yield* isSameFile(context, from, to))) return
    yield* assertParent(context, to, 'EISDIR')
    const bits = source.mode === null ? {} : { mode: source.mode }
    yield* waitFor(context.driver.copyFile(from, to, { exclusive: isExclusive, ...bits }))
  },
)

/** Returns the open file of a number or a `FileHandle`; undefined for a path. */
function findOpenFile(context: FsContext, target: unknown, syscall: string): OpenNodeFile | undefined {
  if (typeof target === 'number') return context.descriptors.get(target, syscall)
  const fd = target instanceof Uint8Array || target instanceof URL ? undefined : getOption(target, 'fd')
  return typeof fd === 'number' ? context.descriptors.get(fd, syscall) : undefined
}

function assertNotAborted(options: unknown): void {
  const signal = getOption(options, 'signal')
  if (signal instanceof AbortSignal && signal.aborted) throw createAbortError(signal.reason)
}
