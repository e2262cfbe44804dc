import { spawn, spawnSync } from 'node:child_process'
import { setTimeout } from 'node:timers/promises'
import { VfsError } from '../../vfs/index.ts'
import { findCoppiceMount } from './mount-list.ts'
import { listMountUsers } from './mount-users.ts'
import { runSystemProgram } from './system-program.ts'

const MAX_TRIES = 20
const RETRY_MS = 50

/**
 * Unmounts a directory. EUNAVAILABLE with the users if it is busy; EINVAL if coppice has no mount there or the program
 * that unmounts fails.
 */
export async function unmount(directory: string): Promise<void> {
  if (findCoppiceMount(directory) === undefined) {
    const detail = `coppice has no mount at ${directory}, or another file system is mounted over it`
    throw new VfsError('EINVAL', directory, { op: 'unmount', detail })
  }
  const [file, ...args] = isRoot() ? ['umount', '-i', directory] : ['fusermount3', '-u', '--', directory]
  for (let tries = 1; ; tries++) {
    const complaint = await runSystemProgram(file, args)
    if (complaint === undefined) return
    if (!/busy/i.test(complaint))
      throw new VfsError('EINVAL', directory, { op: 'unmount', detail: complaint })
    const users = listMountUsers(directory)
    // Another mount that looks for dead ones uses it for a moment, with a program that is over before it is found.
    if (users.length > 0 || tries === MAX_TRIES) throw createBusyError(directory, users)
    await setTimeout(RETRY_MS)
  }
}

function createBusyError(directory: string, users: readonly string[]): VfsError {
  const reason = users.length === 0 ? 'the mount is in use' : `the mount is in use by ${users.join(', ')}`
  const detail = `${reason}; leave the directory, close its files and try again, or use --lazy`
  return new VfsError('EUNAVAILABLE', directory, { op: 'unmount', detail })
}

/**
 * Detaches the mount of coppice that is visible in a directory, in use or not. Its users get ENOTCONN once its connection
 * or server ends. Other mounts at the same path stay. Never fails, and does nothing if there is no such mount.
 * @param id only this mount; does nothing if another one is visible there.
 */
export function forceUnmount(
  directory: string,
  id: string | undefined = findCoppiceMount(directory)?.id,
): void {
  if (id === undefined || findCoppiceMount(directory)?.id !== id) return
  const [file, ...args] = createForceUnmountCommand(directory)
  spawnSync(file, args, { stdio: 'ignore' })
}

/** Sends the server of a mount a request, without waiting for the reply. */
export function pokeServer(directory: string): void {
  const child = spawn('stat', ['-f', '--', directory], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}

/** True for root of this machine or of a user namespace. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * Returns the command that detaches a mount, in use or not. For root, also of a user namespace, it ends the connection.
 * Other users need fusermount3, which checks that the mount is theirs.
 */
export function createForceUnmountCommand(directory: string): readonly [file: string, ...args: string[]] {
  if (isRoot()) return ['umount', '-i', '-f', '-l', directory]
  return ['fusermount3', '-u', '-z', '--', directory]
}
