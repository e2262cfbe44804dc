import { type FuseMountSettings, getPermissionOptions } from './mount-command.ts'

/** Where a program that was started this way finds the device. */
export const DEVICE_DESCRIPTOR = 3

/**
 * fusermount3 hands over what it opened as a message of a socket, which Node cannot take. So this takes it, and then
 * becomes the program that serves. Whoever ends it meanwhile finds nothing mounted.
 */
const RECEIVER = `
import array, os, signal, socket, sys
options, directory, *program = sys.argv[1:]
ours, theirs = socket.socketpair()
ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
told = []
for each in ends:
    signal.signal(each, lambda number, _: told.append(number))
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
if told:
    os.spawnlp(os.P_WAIT, 'fusermount3', 'fusermount3', '-u', '-z', '--', directory)
    os._exit(128 + told[0])
os.execv(program[0], program)
`

/**
 * The words that mount for an ordinary user, by fusermount3, and then become a program that has the device as its
 * descriptor 3. It ends before that with a complaint if it cannot mount.
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
