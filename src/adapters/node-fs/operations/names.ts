import { randomInt } from 'node:crypto'
import { dirname, normalize, relativeTo, resolve, VfsError } from '../../../vfs/index.ts'
import { isSet, modeOf, named, pathText, setting } from '../arguments.ts'
import { checkError, codeOf } from '../node-error.ts'
import { type Operation, onPath, onTwoPaths } from '../operation.ts'
import { assertParent, followedIfPresent, located, lstatIfPresent, type Site, told } from '../site.ts'
import { type Steps, settled } from '../steps.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const RANDOM_LETTERS = 6
const MOST_TRIES = 100

/** Gives the first directory that was made, if `recursive`. */
export const mkdir: Operation<string | undefined> = function* (site, given, options) {
  const first = yield* makeDirectory(site, given, options)
  const asked = pathText(given)
  if (first === resolve(site.cwd, asked)) return asked
  return first === undefined || asked.startsWith('/') ? first : (relativeTo(first, site.cwd) ?? first)
}

const makeDirectory = onPath<string | undefined>('mkdir', function* (site, given, options) {
  const path = normalize(given)
  const isRecursive = isSet(options, 'recursive')
  const bits = typeof options === 'object' ? setting(options, 'mode') : options
  const mode = modeOf(bits, 0o777) & ~site.owner.umask
  if (isRecursive) return yield* makeAll(site, path, mode)
  yield* settled(site.ground.mkdir(path, mode))
  return undefined
})

function* makeAll(site: Site, path: string, mode: number): Steps<string | undefined> {
  const missing: string[] = []
  let at = path
  let found = yield* followedIfPresent(site, at)
  for (; found === undefined; found = yield* followedIfPresent(site, at)) {
    missing.push(at)
    at = dirname(at)
  }
  if (found.type !== 'directory') throw new VfsError(at === path ? 'EEXIST' : 'ENOTDIR', path)
  for (const directory of missing.toReversed()) yield* makeOrFind(site, directory, mode, directory === path)
  return missing.at(-1)
}

/** Somebody else may be making the same one. */
function* makeOrFind(site: Site, path: string, mode: number, isLast: boolean): Steps<void> {
  try {
    yield* settled(site.ground.mkdir(path, mode))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    const found = yield* followedIfPresent(site, path)
    if (found?.type === 'directory') return
    // A link that leads nowhere, at the end or on the way.
    throw found === undefined ? new VfsError(isLast ? 'ENOENT' : 'ENOTDIR', path) : error
  }
}

export const mkdtemp: Operation<string | Buffer> = function* (site, given, options) {
  const prefix = pathText(given, 'prefix')
  const asked = { syscall: 'mkdtemp', path: `${prefix}XXXXXX` }
  return yield* told(site, asked, makeTemporary(site, prefix, options))
}

function* makeTemporary(site: Site, prefix: string, options: unknown): Steps<string | Buffer> {
  for (let tries = 1; ; tries++) {
    const path = `${prefix}${randomName()}`
    try {
      const place = yield* located(site, path)
      yield* settled(site.ground.mkdir(place, 0o700))
      return named(path, options)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || tries === MOST_TRIES) throw error
    }
  }
}

function randomName(): string {
  return Array.from({ length: RANDOM_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}

export const rmdir: Operation<void> = onPath('rmdir', function* (site, path) {
  yield* settled(site.ground.rmdir(path))
})

export const unlink: Operation<void> = onPath('unlink', function* (site, path) {
  yield* settled(site.ground.remove(path, false))
})

export const rm: Operation<void> = function* (site, path, options) {
  try {
    yield* removeAll(site, path, options)
  } catch (error) {
    if (!isSet(options, 'force') || codeOf(error) !== 'ENOENT') throw error
  }
}

const removeAll = onPath<void>('lstat', function* (site, path, options) {
  const { type } = yield* settled(site.ground.lstat(path))
  if (type === 'directory' && !isSet(options, 'recursive')) {
    const message = `Path is a directory: rm returned EISDIR (is a directory) ${path}`
    throw checkError('ERR_FS_EISDIR', message, { syscall: 'rm', path })
  }
  yield* settled(site.ground.remove(path, isSet(options, 'recursive')))
})

export const rename: Operation<void> = onTwoPaths(
  'rename',
  function* (site, from, target) {
    yield* assertParent(site, normalize(from))
    const to = yield* target
    if (dirname(from) !== dirname(to)) yield* assertParent(site, normalize(to))
    const source = yield* settled(site.ground.lstat(from))
    if (to.endsWith('/') && source.type !== 'directory') throw new VfsError('ENOTDIR', to)
    const found = yield* lstatIfPresent(site, to)
    // Two names of one file: a kernel leaves both.
    if (from === to || (found !== undefined && source.ino !== 0 && source.ino === found.ino)) return
    yield* settled(site.ground.rename(from, to))
  },
  ['oldPath', 'newPath'],
)

export const link: Operation<void> = onTwoPaths(
  'link',
  function* (site, existing, target) {
    const { type } = yield* settled(site.ground.lstat(existing))
    const path = yield* target
    yield* assertParent(site, path)
    if ((yield* lstatIfPresent(site, path)) !== undefined) throw new VfsError('EEXIST', path)
    if (type === 'directory') throw new VfsError('EPERM', path)
    yield* settled(site.ground.link(existing, path))
  },
  ['existingPath', 'newPath'],
)

/** The target is text: where it leads is nobody's business yet. */
export const symlink: Operation<void> = function* (site, target, given) {
  const asked = { syscall: 'symlink', path: pathText(target, 'target'), dest: pathText(given) }
  yield* told(site, asked, makeLink(site, asked.path, asked.dest))
}

function* makeLink(site: Site, target: string, given: string): Steps<void> {
  const path = yield* located(site, given)
  if (target === '') throw new VfsError('ENOENT', path)
  yield* assertParent(site, path)
  yield* settled(site.ground.symlink(target, path))
}

export const readlink: Operation<string | Buffer> = onPath('readlink', function* (site, path, options) {
  return named(yield* settled(site.ground.readlink(path)), options)
})

export const realpath: Operation<string | Buffer> = onPath('realpath', function* (site, path, options) {
  const real = yield* settled(site.ground.realpath(path))
  yield* settled(site.ground.lstat(real))
  return named(real, options)
})
