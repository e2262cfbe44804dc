import { execFile } from 'node:child_process'
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createProcessTag, isErrno, isStaleTag, makePrivateDirectory } from '../../machine/index.ts'

const execute = promisify(execFile)
/** They go from one directory to the next, as deep as it may be; Node goes by paths. */
const EXEC_OPTIONS = { env: { PATH: '/usr/bin:/bin' } } as const

/**
 * Makes a directory for one session, and removes those of processes that are no more.
 * The name says whose it is, so there is no moment at which a directory has no owner.
 */
export async function createSessionDirectory(sessions: string): Promise<string> {
  makePrivateDirectory(sessions)
  await sweepSessions(sessions)
  const path = join(sessions, createProcessTag())
  makePrivateDirectory(path)
  return path
}

/** Removes what sessions of dead processes left. Returns how many there were. */
export async function sweepSessions(sessions: string): Promise<number> {
  const stale = (await listNames(sessions)).filter(isStaleTag)
  for (const name of stale) await removeTree(join(sessions, name))
  return stale.length
}

/** Removes a tree, also directories in it that nobody may enter, or to which no path leads since it would be too long. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'EPERM', 'ENAMETOOLONG')) throw error
    // The removal that failed may still be under way: what is gone needs not be opened.
    await execute('chmod', ['-R', 'u+rwx', '--', path], EXEC_OPTIONS).catch(() => undefined)
    await execute('rm', ['-rf', '--', path], EXEC_OPTIONS)
  }
}

async function listNames(directory: string): Promise<string[]> {
  try {
    return (await lstat(directory)).isDirectory() ? await readdir(directory) : []
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}
