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
export const mkdir: FsOperation<string | undefined> = function* (site, given, options) {
  const first = yield* makeDirectory(site, given, options)
  const call = parsePath(given)
  if (first === resolve(site.cwd, call)) return call
  return first === undefined || call.startsWith('/') ? first : (relativeTo(first, site.cwd) ?? first)
}

const makeDirectory = definePathOperation<string | undefined>('mkdir', function* (site, given, options) {
  const path = normalize(given)
  const isRecursive = isOptionSet(options, 'recursive')
  const bits = typeof options === 'object' ? getOption(options, 'mode') : options
  const mode = parseMode(bits, 0o777) & ~site.owner.umask
  if (isRecursive) return yield* makeAll(site, path, mode)
  yield* waitFor(site.driver.mkdir(path, mode))
  return undefined
})

function* makeAll(site: FsContext, path: string, mode: number): Coroutine<string | undefined> {
  const missing: string[] = []
  let at = path
  let found = yield* statIfPresent(site, at)
  for (; found === undefined; found = yield* statIfPresent(site, at)) {
    missing.push(at)
    at = dirname(at)
  }
  if (found.type !== 'directory') throw new VfsError(at === path ? 'EEXIST' : 'ENOTDIR', path)
  for (const directory of missing.toReversed()) yield* makeOrFind(site, directory, mode, directory === path)
  return missing.at(-1)
}

/** Creates a directory or accepts one that another caller just created. */
function* makeOrFind(site: FsContext, path: string, mode: number, isLast: boolean): Coroutine<void> {
  try {
    yield* waitFor(site.driver.mkdir(path, mode))
  } catch (error) {
    if (getErrorCode(error) !== 'EEXIST') throw error
    const found = yield* statIfPresent(site, path)
    if (found?.type === 'directory') return
    // A broken link, at the end or on the way.
    throw found === undefined ? new VfsError(isLast ? 'ENOENT' : 'ENOTDIR', path) : error
  }
}

export const mkdtemp: FsOperation<string | Buffer> = function* (site, given, options) {
  const prefix = parsePath(given, 'prefix')
  const call = { syscall: 'mkdtemp', path: `${prefix}XXXXXX` }
  return yield* withNodeErrors(site, call, makeTemporary(site, prefix, options))
}

function* makeTemporary(site: FsContext, prefix: string, options: unknown): Coroutine<string | Buffer> {
  for (let tries = 1; ; tries++) {
    const path = `${prefix}${randomName()}`
    try {
      const real = yield* resolvePath(site, path)
      yield* waitFor(site.driver.mkdir(real, 0o700))
      return encodeName(path, options)
    } catch (error) {
      if (getErrorCode(error) !== 'EEXIST' || tries === MAX_TRIES) throw error
    }
  }
}

function randomName(): string {
  return Array.from({ length: NAME_LENGTH }, () => NAME_CHARACTERS[randomInt(NAME_CHARACTERS.length)]).join(
    '',
  )
}

export const rmdir: FsOperation<void> = definePathOperation('rmdir', function* (site, path) {
  yield* waitFor(site.driver.rmdir(path))
})

export const unlink: FsOperation<void> = definePathOperation('unlink', function* (site, path) {
  yield* waitFor(site.driver.remove(path, false))
})

export const rm: FsOperation<void> = function* (site, path, options) {
  try {
    yield* removeAll(site, path, options)
  } catch (error) {
    if (!isOptionSet(options, 'force') || getErrorCode(error) !== 'ENOENT') throw error
  }
}

const removeAll = definePathOperation<void>('lstat', function* (site, path, options) {
  const { type } = yield* waitFor(site.driver.lstat(path))
  if (type === 'directory' && !isOptionSet(options, 'recursive')) {
    const message = `Path is a directory: rm returned EISDIR (is a directory) ${path}`
    throw createCheckError('ERR_FS_EISDIR', message, { syscall: 'rm', path })
  }
  yield* waitFor(site.driver.remove(path, isOptionSet(options, 'recursive')))
})

export const rename: FsOperation<void> = defineTwoPathOperation(
  'rename',
  function* (site, from, target) {
    yield* assertParent(site, normalize(from))
    const to = yield* target
    if (dirname(from) !== dirname(to)) yield* assertParent(site, normalize(to))
    const source = yield* waitFor(site.driver.lstat(from))
    if (to.endsWith('/') && source.type !== 'directory') throw new VfsError('ENOTDIR', to)
    const found = yield* lstatIfPresent(site, to)
    // Two names of one file: a kernel leaves both.
    if (from === to || (found !== undefined && source.ino !== 0 && source.ino === found.ino)) return
    yield* waitFor(site.driver.rename(from, to))
  },
  ['oldPath', 'newPath'],
)

export const link: FsOperation<void> = defineTwoPathOperation(
  'link',
  function* (site, existing, target) {
    const { type } = yield* waitFor(site.driver.lstat(existing))
    const path = yield* target
    yield* assertParent(site, path)
    if ((yield* lstatIfPresent(site, path)) !== undefined) throw new VfsError('EEXIST', path)
    if (type === 'directory') throw new VfsError('EPERM', path)
    yield* waitFor(site.driver.link(existing, path))
  },
  ['existingPath', 'newPath'],
)

/** Creates a link; its target is text and is not resolved. */
export const symlink: FsOperation<void> = function* (site, target, given) {
  const call = { syscall: 'symlink', path: parsePath(target, 'target'), dest: parsePath(given) }
  yield* withNodeErrors(site, call, makeLink(site, call.path, call.dest))
}

function* makeLink(site: FsContext, target: string, given: string): Coroutine<void> {
  const path = yield* resolvePath(site, given)
  if (target === '') throw new VfsError('ENOENT', path)
  yield* assertParent(site, path)
  yield* waitFor(site.driver.symlink(target, path))
}

export const readlink: FsOperation<string | Buffer> = definePathOperation(
  'readlink',
  function* (site, path, options) {
    return encodeName(yield* waitFor(site.driver.readlink(path)), options)
  },
)

export const realpath: FsOperation<string | Buffer> = definePathOperation(
  'realpath',
  function* (site, path, options) {
    const real = yield* waitFor(site.driver.realpath(path))
    yield* waitFor(site.driver.lstat(real))
    return encodeName(real, options)
  },
)
