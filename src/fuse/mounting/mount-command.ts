import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { VfsError } from '../../vfs/index.ts'

const DEVICE = '/dev/fuse'
/** What mountinfo calls a mount of ours. */
export const MOUNT_TYPE = 'fuse.coppice'
/** The descriptor of the device in the program that mounts. */
const INHERITED = 3

export interface MountSettings {
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
export function mountDevice(fd: number, directory: string, settings: MountSettings): void {
  const stdio = ['ignore', 'ignore', 'pipe', fd] as const
  const { status, stderr, error } = spawnSync('mount', mountArguments(directory, settings), {
    stdio: [...stdio],
    encoding: 'utf8',
  })
  if (status === 0) return
  closeSync(fd)
  const words = error?.message ?? stderr.trim()
  const isDenied = /permission|superuser|not permitted/i.test(words)
  const advice = isDenied ? '; be root, or run it in a namespace of your own: unshare -Urm' : ''
  throw new VfsError(isDenied ? 'EPERM' : 'EIO', directory, { op: 'mount', detail: `${words}${advice}` })
}

function mountArguments(
  directory: string,
  { source, isReadOnly = false, allowsOthers = false }: MountSettings,
): string[] {
  const options = [
    `fd=${INHERITED}`,
    'rootmode=40000',
    `user_id=${process.getuid?.() ?? 0}`,
    `group_id=${process.getgid?.() ?? 0}`,
    'default_permissions',
    'nosuid',
    'nodev',
    ...(allowsOthers ? ['allow_other'] : []),
    ...(isReadOnly ? ['ro'] : []),
  ]
  return ['-i', '-t', MOUNT_TYPE, '-o', options.join(','), source, directory]
}
