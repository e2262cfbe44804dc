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

export const stat: FsOperation<AnyStats | undefined> = unlessMissing(
  definePathOperation('stat', function* (site, path, options) {
    return createStats(site, yield* statFollowed(site, path), options)
  }),
)

export const lstat: FsOperation<AnyStats | undefined> = unlessMissing(
  definePathOperation('lstat', function* (site, path, options) {
    return createStats(site, yield* waitFor(site.driver.lstat(path)), options)
  }),
)

export const fstat: FsOperation<AnyStats> = defineFileOperation('fstat', function* (site, file, options) {
  return createStats(site, yield* file.stat(), options)
})

/** Modes never deny reading or writing; a file without any execute bit cannot be executed. */
export const access: FsOperation<void> = definePathOperation('access', function* (site, path, mode) {
  const wanted = parseCount(mode, 'mode', constants.F_OK)
  const found = yield* statFollowed(site, path)
  if ((wanted & constants.W_OK) !== 0 && !site.driver.isWritable) throw new VfsError('EROFS', path)
  if ((wanted & constants.X_OK) === 0 || found.type === 'directory') return
  if ((modeBits(found) & ANY_EXECUTE_BIT) === 0) throw new VfsError('EACCES', path)
})

export const chmod: FsOperation<void> = definePathOperation('chmod', function* (site, path, mode) {
  yield* waitFor(site.driver.setattr(path, { mode: parseMode(mode, 0) }))
})

export const fchmod: FsOperation<void> = defineFileOperation('fchmod', function* (_site, file, mode) {
  yield* file.setattr({ mode: parseMode(mode, 0) })
})

export const utimes: FsOperation<void> = definePathOperation('utime', function* (site, path, atime, mtime) {
  parseTime(atime, 'atime')
  yield* waitFor(site.driver.setattr(path, { mtime: parseTime(mtime, 'mtime') }))
})

export const lutimes: FsOperation<void> = definePathOperation('lutime', function* (site, path, atime, mtime) {
  parseTime(atime, 'atime')
  yield* waitFor(site.driver.setattr(path, { mtime: parseTime(mtime, 'mtime'), ofLink: true }))
})

export const futimes: FsOperation<void> = defineFileOperation(
  'futime',
  function* (_site, file, atime, mtime) {
    parseTime(atime, 'atime')
    yield* file.setattr({ mtime: parseTime(mtime, 'mtime') })
  },
)

export const chown: FsOperation<void> = definePathOperation('chown', function* (site, path, uid, gid) {
  yield* statFollowed(site, path)
  assertOwner(site, 'chown', uid, gid)
})

export const lchown: FsOperation<void> = definePathOperation('lchown', function* (site, path, uid, gid) {
  yield* waitFor(site.driver.lstat(path))
  assertOwner(site, 'lchown', uid, gid)
})

export const fchown: FsOperation<void> = defineFileOperation('fchown', function* (site, file, uid, gid) {
  yield* file.stat()
  assertOwner(site, 'fchown', uid, gid)
})

/** Refuses another owner: all files have one, and an ordinary user may not change it. */
function assertOwner({ owner }: FsContext, syscall: string, uid: unknown, gid: unknown): void {
  const isKept = (id: unknown, name: string, own: number) => id === -1 || parseCount(id, name, own) === own
  if (isKept(uid, 'uid', owner.uid) && isKept(gid, 'gid', owner.gid)) return
  throw createNodeError('EPERM', { syscall })
}

function createStats(site: FsContext, found: SyncStat, options: unknown): AnyStats {
  const stats = new Stats(found, site.owner)
  return isOptionSet(options, 'bigint') ? new BigIntStats(stats) : stats
}

/** Returns undefined for a missing path with `throwIfNoEntry: false`. */
function unlessMissing<T>(operation: FsOperation<T>): FsOperation<T | undefined> {
  return function* (site, path, options) {
    try {
      return yield* operation(site, path, options)
    } catch (error) {
      if (getOption(options, 'throwIfNoEntry') === false && isMissing(error)) return undefined
      throw error
    }
  }
}
