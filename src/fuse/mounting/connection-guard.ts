import { writeFileSync } from 'node:fs'
import { spawnWithoutInheritedFds } from '../../machine/index.ts'
import type { MountEntry } from './mount-list.ts'
import { createForceUnmountCommand } from './unmount.ts'

const CONNECTIONS = '/sys/fs/fuse/connections'

/**
 * Waits until its input ends, when it is no longer needed, or SIGTERM reports the death of its parent.
 * The signal also comes when only a thread ends, so it ends the connection only if the process is a zombie or gone.
 * If fusectl is not mounted, root mounts it in a private namespace for that moment.
 */
const PROGRAM = `trap 'parent_died=1' TERM
while parent_died=0; ! read -r _ && [ $parent_died = 1 ]; do
  case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
    Z* | X* | '')
      echo 1 > "$2" && exit
      unshare --mount sh -c 'mount -t fusectl coppice ${CONNECTIONS} && echo 1 > "$0"' "$2" && exit
      shift 2
      exec "$@" ;;
  esac
done`

/**
 * Ends a mount's connection if this process is killed, until it is disposed of.
 * The kernel does so once the whole process has ended. But a thread may block in a notice,
 * waiting for a lock whose holder waits for the server. That deadlock would block every user of the mount.
 */
export function guardConnection({ directory, connection }: MountEntry): Disposable {
  const words = [String(process.pid), getAbortFile(connection), ...createForceUnmountCommand(directory)]
  const guard = spawnWithoutInheritedFds(
    'setpriv',
    ['--pdeathsig', 'TERM', '--', 'sh', '-c', PROGRAM, 'coppice', ...words],
    // In its own session, so that a signal to this process group does not kill the guard.
    { stdio: ['pipe', 'ignore', 'ignore'], cwd: '/', detached: true },
  )
  // If `setpriv` is missing, `coppice unmount --lazy` frees blocked processes.
  guard.on('error', () => {})
  guard.stdin?.on('error', () => {})
  guard.unref()
  return { [Symbol.dispose]: () => guard.stdin?.destroy() }
}

/** Ends a connection at once: users of the mount get ENOTCONN. False if this user lacks permission. */
export function endConnection({ connection }: MountEntry): boolean {
  try {
    writeFileSync(getAbortFile(connection), '1')
    return true
  } catch {
    return false
  }
}

/** The file belongs to the user who mounted. */
function getAbortFile(connection: string): string {
  return `${CONNECTIONS}/${connection}/abort`
}
