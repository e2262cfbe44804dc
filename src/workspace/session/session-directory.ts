import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrno } from './errno.ts'

/** The owner in the name of a directory: process namespace, process, and when that started. */
const NAME = /^(\d+)-(\d+)-(\d+)-[0-9a-f]+$/

/**
 * Makes a directory for one session, and removes those of processes that are no more.
 * The name says whose it is, so there is no moment at which a directory has no owner.
 */
export async function makeSessionDirectory(sessions: string): Promise<string> {
  await mkdir(sessions, { recursive: true, mode: 0o700 })
  await sweepSessions(sessions)
  const started = startOf(process.pid) ?? '0'
  const name = `${processNamespace()}-${process.pid}-${started}-${randomBytes(6).toString('hex')}`
  const path = join(sessions, name)
  await mkdir(path, { mode: 0o700 })
  return path
}

/** Removes what sessions of dead processes left. Returns how many there were. */
export async function sweepSessions(sessions: string): Promise<number> {
  const stale = (await names(sessions)).filter(isStale)
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

/** Whether the owner is dead. Of another process namespace, such as another container's, we cannot know. */
function isStale(name: string): boolean {
  const [, namespace, pid, started] = NAME.exec(name) ?? []
  if (pid === undefined || namespace !== processNamespace()) return false
  if (process.platform === 'linux') return startOf(Number(pid)) !== started
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return isErrno(error, 'ESRCH')
  }
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')
  } catch {
    // No /proc: one namespace for all.
    return '0'
  }
}

/** When a process started, in ticks since boot; undefined if there is none. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program comes second, in parentheses, and may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
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
