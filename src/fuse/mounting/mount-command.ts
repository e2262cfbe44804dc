import { constants, openSync } from 'node:fs'
import { VfsError } from '../../vfs/index.ts'
import { runSystemProgram } from './system-program.ts'

const DEVICE = '/dev/fuse'
/** File system type of the mounts in mountinfo. */
export const MOUNT_TYPE = 'fuse.coppice'
/** Descriptor of the device in the mounting program. */
const DEVICE_FD = 3

export interface FuseMountSettings {
  /** Source that `mount` and `df` show. */
  readonly source: string
  readonly isReadOnly?: boolean
  /** Allows other users, subject to permissions. */
  readonly allowsOthers?: boolean
}

/** Opens the FUSE device. EACCES if this user may not open it, ENOTSUP if this machine has none. */
export function openDevice(): number {
  try {
    return openSync(DEVICE, constants.O_RDWR)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EACCES' || code === 'EPERM') {
      const detail = `${DEVICE} cannot be opened; allow your user to read and write it (chmod 666 ${DEVICE}), or run as root`
      throw new VfsError('EACCES', DEVICE, { op: 'mount', detail, cause: error })
    }
    const detail = `this machine has no ${DEVICE}; load the kernel module with: modprobe fuse`
    throw new VfsError('ENOTSUP', DEVICE, { op: 'mount', detail, cause: error })
  }
}

/** Mounts an open device. EPERM for a user who is not root, also of a user namespace; EIO if `mount` fails otherwise. */
export async function mountDevice(fd: number, directory: string, settings: FuseMountSettings): Promise<void> {
  const args = ['-i', '-t', MOUNT_TYPE, '-o', formatMountOptions(settings), settings.source, directory]
  const complaint = await runSystemProgram('mount', args, { fd })
  if (complaint === undefined) return
  const isDenied = /permission|superuser|not permitted/i.test(complaint)
  const advice = isDenied ? '; run as root, or in your own namespace: unshare -Urm' : ''
  throw new VfsError(isDenied ? 'EPERM' : 'EIO', directory, { op: 'mount', detail: `${complaint}${advice}` })
}

/**
 * Returns the mount options for permissions. The kernel checks permissions if other users are allowed or root mounts. In
 * a private mount of an ordinary user, that user owns everything.
 */
export function getPermissionOptions(allowsOthers: boolean): string[] {
  return [
    ...(allowsOthers || process.getuid?.() === 0 ? ['default_permissions'] : []),
    ...(allowsOthers ? ['allow_other'] : []),
  ]
}

function formatMountOptions({ isReadOnly = false, allowsOthers = false }: FuseMountSettings): string {
  const options = [
    `fd=${DEVICE_FD}`,
    'rootmode=40000',
    `user_id=${process.getuid?.() ?? 0}`,
    `group_id=${process.getgid?.() ?? 0}`,
    'nosuid',
    'nodev',
    ...getPermissionOptions(allowsOthers),
    ...(isReadOnly ? ['ro'] : []),
  ]
  return options.join(',')
}
