import { readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { spawnWithoutInheritedFds, TaggedDirectory } from '../../machine/index.ts'

/** Time for which this process removes files itself. A program takes as long to start. */
const PATIENCE_MS = 5
const REPLACED = 'replaced'
/**
 * Waits until the input ends, when the directory has its last name; then removes it, from inside of it. A shell's own `pwd`
 * may answer with the name at its start.
 */
const REMOVE_REPLACED: string = `read -r _; rm -rf -- ${REPLACED}; rmdir -- "$(env pwd -P)"`

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
  const directory = process.platform === 'win32' ? undefined : moveToHome(home, old)
  if (directory === undefined) return
  const child = spawnWithoutInheritedFds('sh', ['-c', REMOVE_REPLACED], {
    cwd: directory.path,
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // Without such a program, a later command removes them.
  child.on('error', () => {})
  if (child.pid !== undefined) tryHandOver(directory, child.pid)
  child.stdin?.destroy()
  child.unref()
}

/** Names the program as the owner. Otherwise the next command takes the files for those of an ended process, and waits. */
function tryHandOver(directory: TaggedDirectory, pid: number): void {
  try {
    directory.handOver(pid)
  } catch {
    // They stay with this process.
  }
}

/** Moves a directory into one of this process, and returns that; undefined if it stays. */
function moveToHome(home: string, old: string): TaggedDirectory | undefined {
  let directory: TaggedDirectory | undefined
  try {
    directory = TaggedDirectory.create(join(home, 'sessions'))
    renameSync(old, join(directory.path, REPLACED))
    return directory
  } catch {
    if (directory !== undefined) rmdirSync(directory.path)
    return undefined
  }
}
