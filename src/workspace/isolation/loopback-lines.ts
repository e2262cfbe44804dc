import { formatCommandLine } from './quote.ts'

/** Request of the kernel that sets the flags of an interface, and the flags of a loopback that is up. */
const [SET_FLAGS, UP] = ['0x8914', '0x49']

/** Programs that turn the loopback interface on, one of which every system has. None of them is needed otherwise. */
const ATTEMPTS: readonly (readonly string[])[] = [
  ['ip', 'link', 'set', 'lo', 'up'],
  ['busybox', 'ip', 'link', 'set', 'lo', 'up'],
  ['ifconfig', 'lo', 'up'],
  ['perl', '-e', `$r=pack('a16s@40','lo',${UP}); socket(S,2,2,0) and ioctl(S,${SET_FLAGS},$r) or exit 1`],
  [
    'python3',
    '-Ic',
    `import socket,fcntl,struct; fcntl.ioctl(socket.socket(2,2),${SET_FLAGS},struct.pack('16sh22x',b'lo',${UP}))`,
  ],
]

const TURN_ON = ATTEMPTS.map((argv) => `${formatCommandLine(argv)} 2>&-`).join(' || ')
const FAILURE = 'cannot turn on the loopback of the command; install ip (iproute2), perl or python3'

/** Turns the loopback interface on if it can, as bubblewrap does, beside the lines after it: end them with `wait`. */
export const LOOPBACK_LINE: string = `{ ${TURN_ON} || :; } &`

/**
 * Returns shell lines that run a listener, to its end, on the loopback of a new network. Its channel, whose number is
 * in a variable of Node, is closed for everything after it.
 */
export function createListenerLines(argv: readonly string[]): string[] {
  return [
    `${TURN_ON} || { echo ${FAILURE.replaceAll(/[();]/g, '\\$&')} >&2; exit 1; }`,
    `${formatCommandLine(argv)} </dev/null >&2 3<&-`,
    'eval "exec $NODE_CHANNEL_FD>&-"',
    'unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE',
  ]
}
