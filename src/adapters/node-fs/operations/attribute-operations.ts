import { constants } from 'node:fs'
import { type SyncStat, VfsError } from '../../../vfs/index.ts'
import { waitFor } from '../coroutine.ts'
import { type FsContext, isMissing, statFollowed } from '../fs-context.ts'
import { defineFileOperation, definePathOperation, type FsOperation } from '../fs-operation.ts'
import { createNodeError } from '../node-error.ts'
import { getOption, isOptionSet, parseCount, parseMode, parseTime } from '../parse-arguments.ts'
import { BigIntStats, modeBits, Stats } from '../stats.ts'

const ANY_EXECUTE_BIT = 0o111

type AnyStats = Stats | BigIntStats

export const stat: FsOperation<AnyStats | undefined> = allowMissing(
  definePathOperation('stat', function* (context, path, options) {
    return createStats(context, yield* statFollowed(context, path), options)
  }),
)

export const lstat: FsOperation<AnyStats | undefined> = allowMissing(
  definePathOperation('lstat', function* (context, path, options) {
    return createStats(context, yield* waitFor(context.driver.lstat(path)), options)
  }),
)

export const fstat: FsOperation<AnyStats> = defineFileOperation('fstat', function* (context, file, options) {
  return createStats(context, yield* file.stat(), options)
})

/** Checks access. Modes never deny reading or writing; a file without any execute bit cannot be executed. */
export const access: FsOperation<void> = definePathOperation('access', function* (context, path, mode) {
  const wanted = parseCount(mode, 'mode', constants.F_OK)
  const found = yield* statFollowed(context, path)
  if ((wanted & constants.W_OK) !== 0 && !context.driver.isWritable) throw new VfsError('EROFS', path)
  if ((wanted & constants.X_OK) === 0 || found.type === 'directory') return
  if ((modeBits(found) & ANY_EXECUTE_BIT) === 0) throw new VfsError('EACCES', path)
})

export const chmod: FsOperation<void> = definePathOperation('chmod', function* (context, path, mode) {
  yield* waitFor(context.driver.setattr(path, { mode: parseMode(mode, 0) }))
})

export const fchmod: FsOperation<void> = defineFileOperation('fchmod', function* (_context, file, mode) {
  yield* file.setattr({ mode: parseMode(mode, 0) })
})

export const utimes: FsOperation<void> = definePathOperation(
  'utime',
  function* (context, path, atime, mtime) {
    parseTime(atime, 'atime')
    yield* waitFor(context.driver.setattr(path, { mtime: parseTime(mtime, 'mtime') }))
  },
)

export const lutimes: FsOperation<void> = definePathOperation(
  'lutime',
  function* (context, path, atime, mtime) {
    parseTime(atime, 'atime')
    yield* waitFor(context.driver.setattr(path, { mtime: parseTime(mtime, 'mtime'), ofLink: true }))
  },
)

export const futimes: FsOperation<void> = defineFileOperation(
  'futime',
  function* (_context, file, atime, mtime) {
    parseTime(atime, 'atime')
    yield* file.setattr({ mtime: parseTime(mtime, 'mtime') })
  },
)

export const chown: FsOperation<void> = definePathOperation('chown', function* (context, path, uid, gid) {
  yield* statFollowed(context, path)
  assertOwner(context, 'chown', uid, gid)
})

export const lchown: FsOperation<void> = definePathOperation('lchown', function* (context, path, uid, gid) {
  yield* waitFor(context.driver.lstat(path))
  assertOwner(context, 'lchown', uid, gid)
})

export const fchown: FsOperation<void> = defineFileOperation('fchown', function* (context, file, uid, gid) {
  yield* file.stat()
  assertOwner(context, 'fchown', uid, gid)
})

/** Refuses another owner: all files have one, and an ordinary user may not change it. */
function assertOwner({ owner }: FsContext, syscall: string, uid: unknown, gid: unknown): void {
  const isKept = (id: unknown, name: string, own: number) => id === -1 || parseCount(id, name, own) === own
  if (isKept(uid, 'uid', owner.uid) && isKept(gid, 'gid', owner.gid)) return
  throw createNodeError('EPERM', { syscall })
}

function createStats(context: FsContext, found: SyncStat, options: unknown): AnyStats {
  const stats = new Stats(found, context.owner)
  return isOptionSet(options, 'bigint') ? new BigIntStats(stats) : stats
}

/** Wraps an operation to return undefined for a missing path with `throwIfNoEntry: false`. */
function allowMissing<T>(operation: FsOperation<T>): FsOperation<T | undefined> {
  return function* (context, path, options) {
    try {
      return yield* operation(context, path, options)
    } catch (error) {
      if (getOption(options, 'throwIfNoEntry') === false && isMissing(error)) return undefined
      throw error
    }
  }
}
