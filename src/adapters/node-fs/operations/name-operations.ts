import { randomInt } from 'node:crypto'
import { dirname, normalize, relativeTo, resolve, VfsError } from '../../../vfs/index.ts'
import { type Coroutine, waitFor } from '../coroutine.ts'
import {
  assertParent,
  type FsContext,
  lstatIfPresent,
  resolvePath,
  statIfPresent,
  withNodeErrors,
} from '../fs-context.ts'
import { definePathOperation, defineTwoPathOperation, type FsOperation } from '../fs-operation.ts'
import { createCheckError, getErrorCode } from '../node-error.ts'
import { encodeName, getOption, isOptionSet, parseMode, parsePath } from '../parse-arguments.ts'

const NAME_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const NAME_LENGTH = 6
const MAX_TRIES = 100

/** Creates a directory; with `recursive`, returns the first one created. */
export const mkdir: FsOperation<string | undefined> = function* (context, given, options) {
  const first = yield* makeDirectory(context, given, options)
  const requestedPath = parsePath(given)
  if (first === resolve(context.cwd, requestedPath)) return requestedPath
  return first === undefined || requestedPath.startsWith('/')
    ? first
    : (relativeTo(first, context.cwd) ?? first)
}

const makeDirectory = definePathOperation<string | undefined>('mkdir', function* (context, given, options) {
  const path = normalize(given)
  const isRecursive = isOptionSet(options, 'recursive')
  const bits = typeof options === 'object' ? getOption(options, 'mode') : options
  const mode = parseMode(bits, 0o777) & ~context.owner.umask
  if (isRecursive) return yield* makeParents(context, path, mode)
  yield* waitFor(context.driver.mkdir(path, mode))
  return undefined
})

/** Creates a directory and its missing parents; returns the first one created. */
function* makeParents(context: FsContext, path: string, mode: number): Coroutine<string | undefined> {
  const missing: string[] = []
  let ancestor = path
  let found = yield* statIfPresent(context, ancestor)
  for (; found === undefined; found = yield* statIfPresent(context, ancestor)) {
    missing.push(ancestor)
    ancestor = dirname(ancestor)
  }
  if (found.type !== 'directory') throw new VfsError(ancestor === path ? 'EEXIST' : 'ENOTDIR', path)
  for (const directory of missing.toReversed())
    yield* makeOrFind(context, directory, mode, directory === path)
  return missing.at(-1)
}

/** Creates a directory or accepts one that another caller just created. */
function* makeOrFind(context: FsContext, path: string, mode: number, isLast: boolean): Coroutine<void> {
  try {
    yield* waitFor(context.driver.mkdir(path, mode))
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error
    const found = yield* statIfPresent(context, path)
    if (found?.type === 'directory') return
    // A broken link, at the end or on the way.
    throw found === undefined ? new VfsError(isLast ? 'ENOENT' : 'ENOTDIR', path) : error
  }
}

export const mkdtemp: FsOperation<string | Buffer> = function* (context, given, options) {
  const prefix = parsePath(given, 'prefix')
  const call = { syscall: 'mkdtemp', path: `${prefix}XXXXXX` }
  return yield* withNodeErrors(context, call, makeTemporary(context, prefix, options))
}

function* makeTemporary(context: FsContext, prefix: string, options: unknown): Coroutine<string | Buffer> {
  for (let tries = 1; ; tries++) {
    const path = `${prefix}${createRandomName()}`
    try {
      const real = yield* resolvePath(context, path)
      yield* waitFor(context.driver.mkdir(real, 0o700))
      return encodeName(path, options)
    } catch (error) {
      if (getErrorCode(error) !== 'EEXIST' || tries === MAX_TRIES) throw error
    }
  }
}

function createRandomName(): string {
  return Array.from({ length: NAME_LENGTH }, () => NAME_CHARACTERS[randomInt(NAME_CHARACTERS.length)]).join(
    '',
  )
}

export const rmdir: FsOperation<void> = definePathOperation('rmdir', function* (context, path) {
  yield* waitFor(context.driver.rmdir(path))
})

export const unlink: FsOperation<void> = definePathOperation('unlink', function* (context, path) {
  yield* waitFor(context.driver.remove(path, false))
})

export const rm: FsOperation<void> = function* (context, path, options) {
  try {
    yield* removeAll(context, path, options)
  } catch (error) {
    if (!isOptionSet(options, 'force') || getErrorCode(error) !== 'ENOENT') throw error
  }
}

const removeAll = definePathOperation<void>('lstat', function* (context, path, options) {
  const { type } = yield* waitFor(context.driver.lstat(path))
  if (type === 'directory' && !isOptionSet(options, 'recursive')) {
    const message = `Path is a directory: rm returned EISDIR (is a directory) ${path}`
    throw createCheckError('ERR_FS_EISDIR', message, { syscall: 'rm', path })
  }
  yield* waitFor(context.driver.remove(path, isOptionSet(options, 'recursive')))
})

export const rename: FsOperation<void> = defineTwoPathOperation(
  'rename',
  function* (context, from, target) {
    yield* assertParent(context, normalize(from))
    const to = yield* target
    if (dirname(from) !== dirname(to)) yield* assertParent(context, normalize(to))
    const source = yield* waitFor(context.driver.lstat(from))
    if (to.endsWith('/') && source.type !== 'directory') throw new VfsError('ENOTDIR', to)
    const found = yield* lstatIfPresent(context, to)
    // Two names of one file: a kernel leaves both.
    if (from === to || (found !== undefined && source.ino !== 0 && source.ino === found.ino)) return
    yield* waitFor(context.driver.rename(from, to))
  },
  ['oldPath', 'newPath'],
)

export const link: FsOperation<void> = defineTwoPathOperation(
  'link',
  function* (context, existing, target) {
    const { type } = yield* waitFor(context.driver.lstat(existing))
    const path = yield* target
    yield* assertParent(context, path)
    if ((yield* lstatIfPresent(context, path)) !== undefined) throw new VfsError('EEXIST', path)
    if (type === 'directory') throw new VfsError('EPERM', path)
    yield* waitFor(context.driver.link(existing, path))
  },
  ['existingPath', 'newPath'],
)

/** Creates a link; its target is text and is not resolved. */
export const symlink: FsOperation<void> = function* (context, target, given) {
  const call = { syscall: 'symlink', path: parsePath(target, 'target'), dest: parsePath(given) }
  yield* withNodeErrors(context, call, makeLink(context, call.path, call.dest))
}

function* makeLink(context: FsContext, target: string, given: string): Coroutine<void> {
  const path = yield* resolvePath(context, given)
  if (target === '') throw new VfsError('ENOENT', path)
  yield* assertParent(context, path)
  yield* waitFor(context.driver.symlink(target, path))
}

export const readlink: FsOperation<string | Buffer> = definePathOperation(
  'readlink',
  function* (context, path, options) {
    return encodeName(yield* waitFor(context.driver.readlink(path)), options)
  },
)

export const realpath: FsOperation<string | Buffer> = definePathOperation(
  'realpath',
  function* (context, path, options) {
    const real = yield* waitFor(context.driver.realpath(path))
    yield* waitFor(context.driver.lstat(real))
    return encodeName(real, options)
  },
)
