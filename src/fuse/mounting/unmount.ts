import { spawn, spawnSync } from 'node:child_process'
import { VfsError } from '../../vfs/index.ts'
import { findOwnMount } from './mount-list.ts'
import { listMountUsers } from './mount-users.ts'
import { runSystemProgram } from './system-program.ts'

/** Takes a mount away. EBUSY is told as EUNAVAILABLE, with who uses it; EINVAL where nothing is mounted. */
export async function unmount(directory: string): Promise<void> {
  if (findOwnMount(directory) === undefined) {
    const detail = `nothing of ours is mounted on ${directory}, or something else is mounted over it`
    throw new VfsError('EINVAL', directory, { op: 'unmount', detail })
  }
  const [file, ...args] = isRoot() ? ['umount', '-i', directory] : ['fusermount3', '-u', '--', directory]
  const words = await runSystemProgram(file, args)
  if (words === undefined) return
  if (/busy/i.test(words)) {
    const users = listMountUsers(directory)
    const who = users.length === 0 ? 'it is in use' : `it is in use by ${users.join(', ')}`
    const detail = `${who}; leave it (cd, close files) and try again, or use --lazy`
    throw new VfsError('EUNAVAILABLE', directory, { op: 'unmount', detail })
  }
  throw new VfsError('EINVAL', directory, { op: 'unmount', detail: words })
}

/**
 * Takes a mount of ours out of sight at once and ends its connection: whoever still uses it gets ENOTCONN. Never fails.
 * What else is mounted there, under it or over it, is somebody else's and stays.
 */
export function forceUnmount(directory: string, id: string | undefined = findOwnMount(directory)?.id): void {
  if (id === undefined || findOwnMount(directory)?.id !== id) return
  const [file, ...args] = createForceUnmountCommand(directory)
  spawnSync(file, args, { stdio: 'ignore' })
}

/** Has the server of a mount asked something, without waiting for the answer. */
export function pokeServer(directory: string): void {
  const asking = spawn('stat', ['-f', '--', directory], { stdio: 'ignore', detached: true })
  asking.on('error', () => {})
  asking.unref()
}

/** Of this machine, or of a user namespace. */
export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/**
 * The words that take a mount out of sight, in use or not. Root ends the connection with it, of a user namespace too.
 * For others there is a program that knows which mounts are theirs.
 */
export function createForceUnmountCommand(directory: string): readonly [file: string, ...args: string[]] {
  if (isRoot()) return ['umount', '-i', '-f', '-l', directory]
  return ['fusermount3', '-u', '-z', '--', directory]
}
