import { spawn, spawnSync } from 'node:child_process'
import { VfsError } from '../../vfs/index.ts'
import { findCoppiceMount } from './mount-list.ts'
import { listMountUsers } from './mount-users.ts'
import { runSystemProgram } from './system-program.ts'

/** Unmounts a directory. EUNAVAILABLE with the users if it is busy; EINVAL if nothing is mounted. */
export async function unmount(directory: string): Promise<void> {
  if (findCoppiceMount(directory) === undefined) {
    const detail = `coppice has no mount at ${directory}, or another file system is mounted over it`
    throw new VfsError('EINVAL', directory, { op: 'unmount', detail })
  }
  const [file, ...args] = isRoot() ? ['umount', '-i', directory] : ['fusermount3', '-u', '--', directory]
  const words = await runSystemProgram(file, args)
  if (words === undefined) return
  if (/busy/i.test(words)) {
    const users = listMountUsers(directory)
    const reason = users.length === 0 ? 'the mount is in use' : `the mount is in use by ${users.join(', ')}`
    const detail = `${reason}; leave the directory, close its files and try again, or use --lazy`
    throw new VfsError('EUNAVAILABLE', directory, { op: 'unmount', detail })
  }
  throw new VfsError('EINVAL', directory, { op: 'unmount', detail: words })
}

/**
 * Detaches our mount at once and ends its connection: its users get ENOTCONN. Never fails.
 * Other mounts at the same path, below or above it, stay.
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
  const asking = spawn('stat', ['-f', '--', directory], { stdio: 'ignore', detached: true })
  asking.on('error', () => {})
  asking.unref()
}

/** True for root of this machine or of a user namespace. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * Returns the command that detaches a mount, in use or not. For root, also of a user namespace, it ends the
 * connection.
 * Other users need fusermount3, which checks that the mount is theirs.
 */
export function createForceUnmountCommand(directory: string): readonly [file: string, ...args: string[]] {
  if (isRoot()) return ['umount', '-i', '-f', '-l', directory]
  return ['fusermount3', '-u', '-z', '--', directory]
}
