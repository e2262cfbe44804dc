import { constants } from 'node:fs'
import { type SyncStat, VfsError } from '../../../vfs/index.ts'
import { countOf, isSet, modeOf, setting, timeOf } from '../arguments.ts'
import { nodeError } from '../node-error.ts'
import { type Operation, onFile, onPath } from '../operation.ts'
import { followed, isMissing, type Site } from '../site.ts'
import { BigIntStats, modeBits, Stats } from '../stats.ts'
import { settled } from '../steps.ts'

const ANY_EXECUTE_BIT = 0o111

type AnyStats = Stats | BigIntStats

export const stat: Operation<AnyStats | undefined> = ifPresent(
  onPath('stat', function* (site, path, options) {
    return statsOf(site, yield* followed(site, path), options)
  }),
)

export const lstat: Operation<AnyStats | undefined> = ifPresent(
  onPath('lstat', function* (site, path, options) {
    return statsOf(site, yield* settled(site.ground.lstat(path)), options)
  }),
)

export const fstat: Operation<AnyStats> = onFile('fstat', function* (site, file, options) {
  return statsOf(site, yield* file.stat(), options)
})

/** Nobody is kept from reading or writing by a mode; a file without any execute bit cannot be run. */
export const access: Operation<void> = onPath('access', function* (site, path, mode) {
  const wanted = countOf(mode, 'mode', constants.F_OK)
  const found = yield* followed(site, path)
  if ((wanted & constants.W_OK) !== 0 && !site.ground.isWritable) throw new VfsError('EROFS', path)
  if ((wanted & constants.X_OK) === 0 || found.type === 'directory') return
  if ((modeBits(found) & ANY_EXECUTE_BIT) === 0) throw new VfsError('EACCES', path)
})

export const chmod: Operation<void> = onPath('chmod', function* (site, path, mode) {
  yield* settled(site.ground.setattr(path, { mode: modeOf(mode, 0) }))
})

export const fchmod: Operation<void> = onFile('fchmod', function* (_site, file, mode) {
  yield* file.setattr({ mode: modeOf(mode, 0) })
})

export const utimes: Operation<void> = onPath('utime', function* (site, path, atime, mtime) {
  timeOf(atime, 'atime')
  yield* settled(site.ground.setattr(path, { mtime: timeOf(mtime, 'mtime') }))
})

export const lutimes: Operation<void> = onPath('lutime', function* (site, path, atime, mtime) {
  timeOf(atime, 'atime')
  yield* settled(site.ground.setattr(path, { mtime: timeOf(mtime, 'mtime'), ofLink: true }))
})

export const futimes: Operation<void> = onFile('futime', function* (_site, file, atime, mtime) {
  timeOf(atime, 'atime')
  yield* file.setattr({ mtime: timeOf(mtime, 'mtime') })
})

export const chown: Operation<void> = onPath('chown', function* (site, path, uid, gid) {
  yield* followed(site, path)
  assertOwner(site, 'chown', uid, gid)
})

export const lchown: Operation<void> = onPath('lchown', function* (site, path, uid, gid) {
  yield* settled(site.ground.lstat(path))
  assertOwner(site, 'lchown', uid, gid)
})

export const fchown: Operation<void> = onFile('fchown', function* (site, file, uid, gid) {
  yield* file.stat()
  assertOwner(site, 'fchown', uid, gid)
})

/** Every file has the one owner; giving it to somebody else is what an ordinary user may not either. */
function assertOwner({ owner }: Site, syscall: string, uid: unknown, gid: unknown): void {
  const isKept = (id: unknown, name: string, own: number) => id === -1 || countOf(id, name, own) === own
  if (isKept(uid, 'uid', owner.uid) && isKept(gid, 'gid', owner.gid)) return
  throw nodeError('EPERM', { syscall })
}

function statsOf(site: Site, found: SyncStat, options: unknown): AnyStats {
  const stats = new Stats(found, site.owner)
  return isSet(options, 'bigint') ? new BigIntStats(stats) : stats
}

/** Nothing, in place of a failure, for whoever asks with `throwIfNoEntry: false`. */
function ifPresent<T>(operation: Operation<T>): Operation<T | undefined> {
  return function* (site, path, options) {
    try {
      return yield* operation(site, path, options)
    } catch (error) {
      if (setting(options, 'throwIfNoEntry') === false && isMissing(error)) return undefined
      throw error
    }
  }
}
