import { spawnSync } from 'node:child_process'
import { VfsError } from '../../vfs/index.ts'

/** Takes a mount away. EBUSY is told as EUNAVAILABLE, with what to do; EINVAL where nothing is mounted. */
export function unmount(directory: string): void {
  const { status, stderr, error } = spawnSync('umount', ['-i', directory], { encoding: 'utf8' })
  if (status === 0) return
  const words = error?.message ?? stderr.trim()
  if (/busy/.test(words)) {
    const detail = 'it is in use; leave it (cd, close files) and try again, or use --lazy'
    throw new VfsError('EUNAVAILABLE', directory, { op: 'unmount', detail })
  }
  throw new VfsError('EINVAL', directory, { op: 'unmount', detail: words })
}

/** Takes a mount out of sight at once and ends its connection: whoever still uses it gets ENOTCONN. Never fails. */
export function abandon(directory: string): void {
  spawnSync('umount', ['-i', '-f', '-l', directory], { stdio: 'ignore' })
}
