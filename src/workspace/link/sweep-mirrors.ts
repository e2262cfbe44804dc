import { isVfsError } from '../../vfs/index.ts'
import type { LinkHome } from './link-home.ts'
import { getMirrorOfCompanion, isMirror, listCompanionNames, readRecord } from './link-record.ts'
import { sweepUnfinishedFork } from './unfinished-fork.ts'

/**
 * Deletes each mirror whose forks were deleted. A mirror is the hidden vault that has a directory as its forks know it; its
 * companion vaults, which go with it, have states of an apply. Returns the number of deleted vaults. A mirror stays while a
 * living process creates its fork, and while the next command has to complete or revert a killed apply.
 */
export async function sweepMirrors(home: LinkHome): Promise<number> {
  const names = await home.vaults()
  let count = 0
  for (const name of names) {
    const mirror = getMirrorOfCompanion(name)
    if (mirror !== undefined && !(await hasVault(home, mirror))) count += await deleteAll(home, [name])
    else if (isMirror(name)) count += await sweepMirror(home, name)
  }
  return count
}

/** Deletes a mirror that nothing needs; returns the number of deleted vaults, without a fork that was never completed. */
async function sweepMirror(home: LinkHome, mirror: string): Promise<number> {
  try {
    if ((await sweepUnfinishedFork(home, mirror)) || !(await isUnused(home, mirror))) return 0
  } catch (error) {
    // It was deleted just now.
    if (isVfsError(error, 'ENOENT')) return 0
    throw error
  }
  return deleteAll(home, [...listCompanionNames(mirror), mirror])
}

/** Reports whether a mirror has no fork, and no apply that was killed. */
async function isUnused(home: LinkHome, mirror: string): Promise<boolean> {
  const record = readRecord(await home.posix(mirror))
  if (record === undefined || record.stage !== undefined) return false
  // Looked up after the record was read: a fork exists before its record names it.
  return !(await hasVault(home, record.fork)) && !(await hasOtherForks(home, mirror))
}

async function hasOtherForks(home: LinkHome, mirror: string): Promise<boolean> {
  for (const name of await home.vaults()) {
    if (getMirrorOfCompanion(name) === undefined && (await home.info(name)).from?.vault === mirror)
      return true
  }
  return false
}

async function hasVault(home: LinkHome, name: string): Promise<boolean> {
  return (await home.vaults()).includes(name)
}

async function deleteAll(home: LinkHome, names: readonly string[]): Promise<number> {
  let count = 0
  for (const name of names) {
    try {
      await home.deleteVault(name)
      count++
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
    }
  }
  return count
}
