import { constants, openSync } from 'node:fs'
import { VfsError } from '../../vfs/index.ts'
import { runSystemProgram } from './system-program.ts'

const DEVICE = '/dev/fuse'
/** What mountinfo calls a mount of ours. */
export const MOUNT_TYPE = 'fuse.coppice'
/** The descriptor of the device in the program that mounts. */
const DEVICE_FD = 3

export interface FuseMountSettings {
  /** What `mount` and `df` show as the source. */
  readonly source: string
  readonly isReadOnly?: boolean
  /** Other users than the one who mounts may use it, too, as far as permissions let them. */
  readonly allowsOthers?: boolean
}

/** Opens the device the kernel sends requests through. ENOTSUP and EACCES say what this machine lacks. */
export function openDevice(): number {
  try {
    return openSync(DEVICE, constants.O_RDWR)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EACCES' || code === 'EPERM') {
      const detail = `${DEVICE} may not be opened; let your user read and write it (chmod 666 ${DEVICE}), or be root`
      throw new VfsError('EACCES', DEVICE, { op: 'mount', detail, cause: error })
    }
    const detail = `this machine has no ${DEVICE}; load the kernel module with: modprobe fuse`
    throw new VfsError('ENOTSUP', DEVICE, { op: 'mount', detail, cause: error })
  }
}

/** Mounts what an open device leads to. Whoever calls is root, or root of a user namespace. EPERM, EIO. */
export async function mountDevice(fd: number, directory: string, settings: FuseMountSettings): Promise<void> {
  const args = ['-i', '-t', MOUNT_TYPE, '-o', formatMountOptions(settings), settings.source, directory]
  const words = await runSystemProgram('mount', args, { fd })
  if (words === undefined) return
  const isDenied = /permission|superuser|not permitted/i.test(words)
  const advice = isDenied ? '; be root, or run it in a namespace of your own: unshare -Urm' : ''
  throw new VfsError(isDenied ? 'EPERM' : 'EIO', directory, { op: 'mount', detail: `${words}${advice}` })
}

/** Who may do what is asked only where others can come in: everything of an ordinary user's own mount is theirs. */
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
