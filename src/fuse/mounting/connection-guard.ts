import { writeFileSync } from 'node:fs'
import { spawnWithoutInheritedFds } from '../../machine/index.ts'
import type { MountEntry } from './mount-list.ts'
import { createForceUnmountCommand } from './unmount.ts'

const CONNECTIONS = '/sys/fs/fuse/connections'

/**
 * Waits until its input ends, which is when it is not needed any more, or it is told that who started it is over. That may
 * have been a mere thread: so it looks whether the process is a zombie, or gone, before it ends the connection. Where
 * nobody has mounted the list of connections, root does so for that moment, and for itself alone.
 */
const PROGRAM = `trap 'is_told=1' TERM
while is_told=0; ! read -r _ && [ $is_told = 1 ]; do
  case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
    Z* | X* | '')
      echo 1 > "$2" && exit
      unshare --mount sh -c 'mount -t fusectl coppice ${CONNECTIONS} && echo 1 > "$0"' "$2" && exit
      shift 2
      exec "$@" ;;
  esac
done`

/**
 * Has a mount's connection ended if this process is killed, until it is disposed of. The kernel does that by itself once
 * nothing is left of the process: but a thread of it may be telling of a change, and so wait for a lock of somebody who
 * waits for the server. Those would wait for each other for ever, and whoever comes to the mount for them.
 */
export function guardConnection({ directory, connection }: MountEntry): Disposable {
  const words = [String(process.pid), getAbortFile(connection), ...createForceUnmountCommand(directory)]
  const guard = spawnWithoutInheritedFds(
    'setpriv',
    ['--pdeathsig', 'TERM', '--', 'sh', '-c', PROGRAM, 'coppice', ...words],
    // A session of its own: whoever kills the group of this process does not kill the guard.
    { stdio: ['pipe', 'ignore', 'ignore'], cwd: '/', detached: true },
  )
  // There may be no such program: then `coppice unmount --lazy` frees who waits.
  guard.on('error', () => {})
  guard.stdin?.on('error', () => {})
  guard.unref()
  return { [Symbol.dispose]: () => guard.stdin?.destroy() }
}

/** Ends a connection at once: whoever uses the mount gets ENOTCONN. False where this user may not. */
export function endConnection({ connection }: MountEntry): boolean {
  try {
    writeFileSync(getAbortFile(connection), '1')
    return true
  } catch {
    return false
  }
}

/** Belongs to who has mounted. */
function getAbortFile(connection: string): string {
  return `${CONNECTIONS}/${connection}/abort`
}
