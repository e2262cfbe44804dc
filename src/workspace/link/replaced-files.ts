import { readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { spawnWithoutInheritedFds, TaggedDirectory } from '../../machine/index.ts'

/** Time for which this process removes files itself. A program takes as long to start. */
const PATIENCE_MS = 5

/**
 * Removes the replaced files of an apply. Some disks take a millisecond for each, to free its blocks. There, the rest moves
 * into the home, for a program that removes it while nobody waits. If that program is killed, a later command removes what
 * is left like the session of a process that has ended. Files that cannot be moved, such as to a home on another disk, stay.
 *
 * @param old path of the directory that has them.
 */
export function removeReplacedFiles(home: string, old: string): void {
  const startedAt = Date.now()
  for (const name of readdirSync(old)) {
    unlinkSync(join(old, name))
    if (Date.now() - startedAt < PATIENCE_MS) continue
    removeLater(home, old)
    return
  }
}

function removeLater(home: string, old: string): void {
  const path = process.platform === 'win32' ? undefined : moveToHome(home, old)
  if (path === undefined) return
  const child = spawnWithoutInheritedFds('rm', ['-rf', '--', path], {
    cwd: '/',
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  // Without such a program, a later command removes them.
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
