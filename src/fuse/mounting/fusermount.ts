import { type FuseMountSettings, getPermissionOptions } from './mount-command.ts'

/** Descriptor of the device in the started program. */
export const DEVICE_DESCRIPTOR = 3

/**
 * Python program that runs fusermount3, receives the device from it over a socket, which Node cannot, and then execs the
 * server. A signal before that unmounts again.
 */
const RECEIVER = `
import array, os, signal, socket, sys
options, directory, *program = sys.argv[1:]
ours, theirs = socket.socketpair()
ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
received = []
for each in ends:
    signal.signal(each, lambda number, _: received.append(number))
mounting = os.fork()
if mounting == 0:
    for each in ends:
        signal.signal(each, signal.SIG_IGN)
    ours.close()
    theirs.set_inheritable(True)
    os.environ['_FUSE_COMMFD'] = str(theirs.fileno())
    try:
        os.execvp('fusermount3', ['fusermount3', '-o', options, '--', directory])
    except OSError:
        print('fusermount3 is missing; install it (Debian, Ubuntu, Fedora: the package fuse3)', file=sys.stderr)
        os._exit(1)
theirs.close()
_, messages, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(4))
if not messages:
    sys.exit(os.WEXITSTATUS(os.waitpid(mounting, 0)[1]) or 1)
device = array.array('i', messages[0][2][:4])[0]
os.dup2(device, ${DEVICE_DESCRIPTOR})
if device != ${DEVICE_DESCRIPTOR}:
    os.close(device)
os.waitpid(mounting, 0)
if received:
    os.spawnlp(os.P_WAIT, 'fusermount3', 'fusermount3', '-u', '-z', '--', directory)
    os._exit(128 + received[0])
os.execv(program[0], program)
`

/**
 * Returns the command that mounts for an ordinary user through fusermount3, then execs a program.
 * That program gets the device as descriptor 3. If mounting fails, the command prints the error and exits.
 */
export function createFusermountCommand(
  directory: string,
  { source, isReadOnly = false, allowsOthers = false }: FuseMountSettings,
  program: readonly string[],
): readonly [file: string, ...args: string[]] {
  const options = [
    `fsname=${source}`,
    'subtype=coppice',
    ...getPermissionOptions(allowsOthers),
    ...(isReadOnly ? ['ro'] : []),
  ]
  return ['python3', '-c', RECEIVER, options.join(','), directory, ...program]
}
