import { writeFileSync } from 'node:fs'
import { spawnWithoutInheritedFds } from '../../machine/index.ts'
import { BUFFER_BYTES } from '../serve-device.ts'
import type { MountEntry } from './mount-list.ts'
import { createForceUnmountCommand } from './unmount.ts'

const CONNECTIONS = '/sys/fs/fuse/connections'
/** Descriptor of the device in the guard. */
const DEVICE_FD = 3
/** Requests that may wait for a reply. A server answers one after another, or, for devices, some at a time. */
const MAX_UNANSWERED = 256
/**
 * Attempts to refuse requests. One without a reply may hold the lock, and so may one that the server has not read yet.
 */
const MAX_ROUNDS = 20

/**
 * Shell program of the guard. Waits until its input ends, when it is no longer needed, or SIGTERM reports the death of
 * its parent.
 * The signal also comes when only a thread ends, so it ends the connection only if the process is a zombie or gone.
 * If fusectl is not mounted, root mounts it in a private namespace for that moment. Another user cannot: while a thread
 * of the server is blocked, the guard itself replies ENOTCONN to the newest requests. It knows their numbers, which are
 * even and consecutive, from a request of its own. The kernel rejects a reply to anything else. The program that makes
 * this request must not have the device, or it would keep the connection it waits for.
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
 * Ends a mount's connection if this process is killed, until it is disposed of.
 * The kernel does so once the whole process has ended. But a thread may block in a notice,
 * waiting for a lock whose holder waits for the server. That deadlock would block every user of the mount.
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
