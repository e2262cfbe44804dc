import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isLeftover, ownMark } from '../../machine/index.ts'
import { isErrno } from './errno.ts'

/**
 * Makes a directory for one session, and removes those of processes that are no more.
 * The name says whose it is, so there is no moment at which a directory has no owner.
 */
export async function makeSessionDirectory(sessions: string): Promise<string> {
  await mkdir(sessions, { recursive: true, mode: 0o700 })
  await sweepSessions(sessions)
  const path = join(sessions, ownMark())
  await mkdir(path, { mode: 0o700 })
  return path
}

/** Removes what sessions of dead processes left. Returns how many there were. */
export async function sweepSessions(sessions: string): Promise<number> {
  const stale = (await names(sessions)).filter(isLeftover)
  for (const name of stale) await removeTree(join(sessions, name))
  return stale.length
}

/** Removes a tree, also directories in it that nobody may enter. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'EPERM')) throw error
    await openUp(path)
    await rm(path, { recursive: true, force: true })
  }
}

/** The removal that failed may still be under way: what is gone needs not be opened. */
async function openUp(path: string): Promise<void> {
  try {
    await chmod(path, 0o700)
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await openUp(join(path, entry.name))
    }
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
  }
}

async function names(directory: string): Promise<string[]> {
  try {
    return (await lstat(directory)).isDirectory() ? await readdir(directory) : []
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}
