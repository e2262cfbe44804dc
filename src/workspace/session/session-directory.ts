import { execFile } from 'node:child_process'
import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createProcessTag, isErrno, isStaleTag, makePrivateDirectory } from '../../machine/index.ts'

const execute = promisify(execFile)
/** Environment of `chmod` and `rm`: they walk trees of any depth, while Node is limited by the length of paths. */
const EXEC_OPTIONS = { env: { PATH: '/usr/bin:/bin' } } as const

/**
 * Creates a directory for one session, and removes those of ended processes. The name is the tag of this process, so
 * a directory has an owner from its first moment.
 */
export async function createSessionDirectory(sessions: string): Promise<string> {
  makePrivateDirectory(sessions)
  await sweepSessions(sessions)
  const path = join(sessions, createProcessTag())
  makePrivateDirectory(path)
  return path
}

/** Removes the session directories of ended processes; returns their number. */
export async function sweepSessions(sessions: string): Promise<number> {
  const stale = (await listNames(sessions)).filter(isStaleTag)
  for (const name of stale) await removeTree(join(sessions, name))
  return stale.length
}

/** Removes a tree, with directories that deny access or whose path is too long for a system call. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true })
  } catch (error) {
    if (!isErrno(error, 'EACCES', 'EPERM', 'ENAMETOOLONG')) throw error
    // Fails where the failed removal is still running: then there is nothing left to unlock.
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
