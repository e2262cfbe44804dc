import { execFile } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createProcessTag, isErrno, makePrivateDirectory, TaggedDirectory } from '../../machine/index.ts'
import { recoverCarriedFiles } from './run/recover-carried-files.ts'

/** A tree with fewer entries is removed in less than a millisecond or two. */
const SMALL_TREE_ENTRIES = 100
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

/** Removes the session directories of ended processes; returns their number. Those with changes to store stay. */
export async function sweepSessions(sessions: string): Promise<number> {
  const stale = TaggedDirectory.list(sessions).filter(
    ({ isAbandoned, hasRecord }) => isAbandoned && !hasRecord,
  )
  const removed = stale.flatMap((abandoned) => adoptWorthless(abandoned) ?? [])
  for (const { path } of removed) await removeTree(path)
  return removed.length
}

/** Takes a directory over to remove it; undefined if it has to stay. */
function adoptWorthless(abandoned: TaggedDirectory): TaggedDirectory | undefined {
  const adopted = abandoned.adopt()
  // Another process had it while it was looked at: with a record, it gave it back for a later one to store.
  if (adopted !== undefined && !adopted.hasRecord && tryCarry(adopted.path)) return adopted
  adopted?.giveBack(abandoned)
  return undefined
}

/** Carries the files of the home that a killed command changed; false on a full disk, where they wait. */
function tryCarry(path: string): boolean {
  try {
    recoverCarriedFiles(path)
    return true
  } catch {
    return false
  }
}

/** Removes a tree, with directories that deny access or whose path is too long for a system call. */
export async function removeTree(path: string): Promise<void> {
  try {
    // At once where it is small, otherwise by a program: Node takes three turns of the event loop for each entry.
    if (isSmallTree(path)) rmSync(path, { recursive: true, force: true })
    else await execute('rm', ['-rf', '--', path], EXEC_OPTIONS)
  } catch {
    await execute('chmod', ['-R', 'u+rwx', '--', path], EXEC_OPTIONS).catch(() => undefined)
    await execute('rm', ['-rf', '--', path], EXEC_OPTIONS)
  }
}

function isSmallTree(path: string): boolean {
  let remaining = SMALL_TREE_ENTRIES
  const count = (directory: string): void => {
    const entries = readdirSync(directory, { withFileTypes: true })
    remaining -= entries.length
    for (const entry of entries) if (remaining > 0 && entry.isDirectory()) count(join(directory, entry.name))
  }
  try {
    count(path)
    return remaining > 0
  } catch (error) {
    // Missing, a file or a link, which are removed at once; otherwise closed to this user, or too deep.
    return isErrno(error, 'ENOENT', 'ENOTDIR')
  }
}
