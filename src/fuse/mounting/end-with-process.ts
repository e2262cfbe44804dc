import { spawnBare } from '../../machine/index.ts'
import { ourMountAt } from './mount-list.ts'
import { forcedUnmount } from './unmount.ts'

/**
 * Waits for its input to end, or for the death of who started it; then it has the kernel end the connection. Told too by
 * the end of a mere thread, it looks whether the process is a zombie, or gone.
 */
const SCRIPT = `trap 'is_told=1' TERM
while is_told=0; ! read -r _ && [ $is_told = 1 ]; do
  case $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) in
    Z* | X* | '')
      echo 1 > "/sys/fs/fuse/connections/$2/abort" && exit
      shift 2
      exec "$@" ;;
  esac
done`

/**
 * Has a mount's connection end with this process, however that dies; returns what calls it off. A process that is killed
 * closes its device only after its last thread has ended. One of ours may be telling the kernel of a change, and so wait
 * for a lock that is held by somebody who waits for us: they would wait for each other for ever, and everybody else for them.
 */
export function endWithProcess(directory: string): () => void {
  const connection = ourMountAt(directory)?.connection
  if (connection === undefined) return () => {}
  const words = ['sh', '-c', SCRIPT, 'coppice', String(process.pid), connection, ...forcedUnmount(directory)]
  // In a session of its own, since whatever is meant to end us must not end it before.
  const guard = spawnBare('setpriv', ['--pdeathsig', 'TERM', '--', ...words], {
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  })
  // Where the program is missing, a kill at a bad moment leaves a mount that hangs.
  guard.on('error', () => {})
  guard.stdin?.on('error', () => {})
  guard.unref()
  return () => guard.stdin?.destroy()
}
