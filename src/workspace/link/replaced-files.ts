import { readdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { spawnWithoutInheritedFds, TaggedDirectory } from '../../machine/index.ts'

/** A program that removes files takes as long to start as fewer files take to remove. */
const MANY_FILES = 32

/**
 * Moves the replaced files of an apply into the home if they are many, for a program that removes them while nobody waits:
 * ext4 takes up to a millisecond to free the blocks of each. If it is killed, a later command removes the rest like the
 * session of a process that has ended. The files stay where they cannot be moved, such as on another disk than the home.
 *
 * @param old path of the directory that has them.
 */
export function removeReplacedFiles(home: string, old: string): void {
  if (process.platform === 'win32' || readdirSync(old).length < MANY_FILES) return
  const path = moveToHome(home, old)
  if (path === undefined) return
  const child = spawnWithoutInheritedFds('rm', ['-rf', '--', path], {
    cwd: '/',
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  // Without such a program, the next command removes them.
  child.on('error', () => {})
  child.unref()
}

/** Moves a directory into one of this process, and returns the path of that; undefined if it stays. */
function moveToHome(home: string, old: string): string | undefined {
  let path: string | undefined
  try {
    path = TaggedDirectory.create(join(home, 'sessions')).path
    renameSync(old, join(path, 'replaced'))
    return path
  } catch {
    if (path !== undefined) rmdirSync(path)
    return undefined
  }
}
