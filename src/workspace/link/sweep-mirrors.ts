import { isVfsError } from '../../vfs/index.ts'
import type { LinkHome } from './link-home.ts'
import { findCompanionMirror, isMirror, listCompanionNames, readRecord } from './link-record.ts'
import { sweepUnfinishedFork } from './unfinished-fork.ts'

/**
 * Deletes each mirror whose fork was deleted, with its companion vaults. Returns the number of deleted vaults. A mirror
 * stays while its fork is being created, and while a killed apply is unresolved.
 */
export async function sweepMirrors(home: LinkHome): Promise<number> {
  const names = await home.vaults()
  let count = 0
  for (const name of names) {
    const base = findCompanionMirror(name)
    if (base !== undefined && !(await hasVault(home, base))) count += await deleteAll(home, [name])
    else if (isMirror(name) && (await isUnused(home, name)))
      count += await deleteAll(home, [...listCompanionNames(name), name])
  }
  return count
}

/** Reports whether a mirror can be deleted. One whose fork was never completed is swept at once, with that fork. */
async function isUnused(home: LinkHome, mirror: string): Promise<boolean> {
  try {
    if (await sweepUnfinishedFork(home, mirror)) return false
    const record = readRecord(await home.posix(mirror))
    if (record === undefined || record.stage !== undefined) return false
    // Checked after the record was read: a fork exists before its record names it.
    return !(await hasVault(home, record.fork)) && !(await hasOtherForks(home, mirror))
  } catch (error) {
    // It was deleted just now.
    if (isVfsError(error, 'ENOENT')) return false
    throw error
  }
}

async function hasOtherForks(home: LinkHome, mirror: string): Promise<boolean> {
  for (const name of await home.vaults()) {
    if (findCompanionMirror(name) === undefined && (await home.info(name)).from?.vault === mirror) return true
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
