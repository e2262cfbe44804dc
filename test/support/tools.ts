import { execFileSync, spawnSync } from 'node:child_process'
import { whyNoProgram } from './debian-programs.ts'

const isRoot = process.getuid?.() === 0

/** Why calls of a process cannot be watched and failed here, or undefined if they can. */
export function whyNoStrace(): string | undefined {
  if (process.platform !== 'linux') return 'strace is for Linux'
  const missing = whyNoProgram('strace')
  if (missing !== undefined) return missing
  const { status, stderr } = attempt('strace', '-f', '-e', 'inject=fsync:retval=0', 'true')
  return status === 0 ? undefined : `strace cannot trace here: ${stderr.trim()}`
}

/** Why there can be no disk made of a file here, or undefined if there can. */
export function whyNoLoopDisk(): string | undefined {
  if (process.platform !== 'linux') return 'loop devices are for Linux'
  if (!isRoot) return 'only root may mount a disk made of a file'
  const missing = whyNoProgram('mkfs.ext4') ?? whyNoProgram('xfs_io')
  if (missing !== undefined) return missing
  const { status, stderr } = attempt('losetup', '--find')
  return status === 0 ? undefined : `there is no loop device: ${stderr.trim()}`
}

export function attempt(program: string, ...args: string[]): { status: number | null; stderr: string } {
  return spawnSync(program, args, { encoding: 'utf8' })
}

/** Runs a program to its end; its output. Throws if it fails. */
export function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Runs a program as nobody, who may open /dev/fuse as users may elsewhere; its output. Only root can. */
export function runAsNobody(...argv: string[]): string {
  const own = 'mount -t tmpfs t /mnt && mknod -m 666 /mnt/fuse c 10 229 && mount --bind /mnt/fuse /dev/fuse'
  const become = 'exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"'
  return run('unshare', '--mount', 'sh', '-c', `{ ${own}; } 2>&- ; ${become}`, 'sh', ...argv)
}

/** Why nothing can be run as nobody here, or undefined if it can: a checkout in a home of root's is closed to others. */
export function whyNotNobody(): string | undefined {
  if (!isRoot) return 'only root can become nobody'
  const nobody = { uid: 65_534, gid: 65_534, cwd: '/' }
  const { status } = spawnSync(process.execPath, ['-e', '0'], nobody)
  return status === 0 ? undefined : 'nobody may not read this checkout'
}

/** Why no overlay can be mounted for a command alone here, or undefined if one can. */
export function whyNoOverlay(): string | undefined {
  if (process.platform !== 'linux') return 'overlays are for Linux'
  const own = isRoot ? [] : ['--user', '--map-root-user']
  const script =
    'mount -t tmpfs t /mnt && mkdir /mnt/l /mnt/u /mnt/w && mount -t overlay -o lowerdir=/mnt/l,upperdir=/mnt/u,workdir=/mnt/w o /mnt/l'
  const { status, stderr } = attempt(
    'unshare',
    ...own,
    '--mount',
    '--pid',
    '--fork',
    '--mount-proc',
    'sh',
    '-c',
    script,
  )
  return status === 0 ? undefined : `no overlay can be mounted: ${stderr.trim()}`
}

/** Why bubblewrap cannot be used here, or undefined if it can. */
export function whyNoBubblewrap(): string | undefined {
  const missing = whyNoProgram('bwrap')
  if (missing !== undefined) return missing
  const { status, stderr } = attempt('bwrap', '--ro-bind', '/', '/', '--unshare-pid', 'true')
  return status === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim()}`
}
