import { writeFileSync } from 'node:fs'
import { spawnWithoutInheritedFds } from '../../machine/index.ts'
import { BUFFER_BYTES } from '../serve-device.ts'
import type { MountEntry } from './mount-list.ts'
import { createForceUnmountCommand } from './unmount.ts'

const CONNECTIONS = '/sys/fs/fuse/connections'
/** Descriptor of the device in the guard. */
const DEVICE_FD = 3
/** Requests that the server may have read and not answered. It answers one after another; for devices, some at a time. */
const MAX_UNANSWERED = 256
/** Rounds of refusing requests. The one with the lock may still be in the queue, of which each round reads one. */
const MAX_ROUNDS = 20

/**
 * Shell program of the guard, which `guardConnection` explains. $1 is the process that serves the mount, $2 the abort
 * file of the connection, $3 the directory of the mount, and the rest the command that unmounts it.
 *
 * It waits for the end of its input, by which it is disposed of, or for SIGTERM, which the kernel sends when its parent
 * dies. The signal also comes when only a thread ends, so the guard acts only if the process is a zombie or gone:
 * 1. It writes to the abort file. If fusectl, which has it, is not mounted, root mounts it in a private namespace.
 * 2. Another user cannot mount it. The guard then answers for the server, as long as a thread of it is blocked: it
 *    replies ENOTCONN (-107) to the newest requests. Their numbers are even and consecutive, so it learns the newest from
 *    a request of its own (`stat`). The kernel rejects a reply to a number that is not waiting. `stat` must not inherit
 *    the device, or it would keep the connection open for which it waits.
 */
const PROGRAM = String.raw`refuse_requests() {
  stat -f -- "$1" > /dev/null 2>&1 ${DEVICE_FD}>&- &
  newest=$(timeout 5 dd bs=${BUFFER_BYTES} count=1 <&${DEVICE_FD} 2> /dev/null | od -An -t u8 -j 8 -N 8)
  number=$((newest & ~1))
  while [ $number -gt 0 ] && [ $number -gt $((newest - 2 * ${MAX_UNANSWERED})) ]; do
    bytes=$(printf '\\0%03o' $((number & 255)) $((number >> 8 & 255)) $((number >> 16 & 255)) $((number >> 24 & 255)))
    printf %b '\0020\0000\0000\0000\0225\0377\0377\0377'"$bytes"'\0000\0000\0000\0000' 2> /dev/null >&${DEVICE_FD}
    number=$((number - 2))
  done
}
trap 'parent_died=1' TERM
while parent_died=0; ! read -r _ && [ $parent_died = 1 ]; do
  case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
    Z* | X* | '')
      echo 1 > "$2" && exit
      unshare --mount sh -c 'mount -t fusectl coppice ${CONNECTIONS} && echo 1 > "$0"' "$2" && exit
      rounds=0
      while [ $(ls "/proc/$1/task" 2> /dev/null | wc -l) -gt 1 ] && [ $rounds -lt ${MAX_ROUNDS} ]; do
        refuse_requests "$3"
        rounds=$((rounds + 1))
      done
      shift 3
      exec "$@" ${DEVICE_FD}>&- ;;
  esac
done`

/**
 * Starts a guard that ends a mount's connection if this process is killed, until it is disposed of.
 * The kernel ends a connection once the whole process of its server has ended. But a thread that notifies the kernel of
 * a change may wait there for a lock, whose holder waits for the server: every user of the mount would hang for good.
 * @param fd the device of the mount.
 */
export function guardConnection({ directory, connection }: MountEntry, fd: number): Disposable {
  const parameters = [String(process.pid), getAbortFile(connection), directory]
  const guard = spawnWithoutInheritedFds(
    'setpriv',
    [
      ...['--pdeathsig', 'TERM', '--', 'sh', '-c', PROGRAM, 'coppice'],
      ...parameters,
      ...createForceUnmountCommand(directory),
    ],
    // In its own session, so that a signal to this process group does not kill the guard.
    { stdio: ['pipe', 'ignore', 'ignore', fd], cwd: '/', detached: true },
  )
  // If `setpriv` is missing, `coppice unmount --lazy` frees blocked processes.
  guard.on('error', () => {})
  guard.stdin?.on('error', () => {})
  guard.unref()
  return { [Symbol.dispose]: () => guard.stdin?.destroy() }
}

/**
 * Ends a connection at once: users of the mount get ENOTCONN. Returns false if this user lacks permission, or if the
 * kernel's list of connections is not mounted.
 */
export function endConnection({ connection }: MountEntry): boolean {
  try {
    writeFileSync(getAbortFile(connection), '1')
    return true
  } catch {
    return false
  }
}

/** Returns the file that ends a connection when it is written. It belongs to the user who mounted. */
function getAbortFile(connection: string): string {
  return `${CONNECTIONS}/${connection}/abort`
}
