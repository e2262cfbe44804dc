import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** State of the terminal after a program has ended. */
export interface TerminalEnd {
  readonly code: number
  /** True if input modes are restored. */
  readonly isRestored: boolean
}

/** A program on a pseudo-terminal that the test controls. */
export class PseudoTerminal {
  /** All output so far, including control sequences. */
  shown = ''
  readonly #child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<unknown>
  #report = ''

  constructor(
    command: readonly string[],
    env: NodeJS.ProcessEnv,
    size: readonly [rows: number, columns: number],
  ) {
    this.#child = spawn('python3', ['-c', BETWEEN, ...size.map(String), ...command], { env })
    onTestFinished(() => void this.#child.kill('SIGKILL'))
    // Listens from the start: the program may end before the test asks.
    this.#closed = once(this.#child, 'close')
    this.#child.stdout.setEncoding('utf8').on('data', (text) => {
      this.shown += text
    })
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#report += text
    })
  }

  type(keys: string): void {
    this.#child.stdin.write(`type ${JSON.stringify(keys)}\n`)
  }

  resize(rows: number, columns: number): void {
    this.#child.stdin.write(`size ${JSON.stringify([rows, columns])}\n`)
  }

  /** Sends a signal by its number. */
  signal(number: number): void {
    this.#child.stdin.write(`kill ${number}\n`)
  }

  async ended(): Promise<TerminalEnd> {
    await this.#closed
    return JSON.parse(this.#report)
  }
}

/**
 * Program between the test and the terminal: reads orders line by line, forwards the output, and reports the final
 * state.
 */
const BETWEEN = `
import fcntl, json, os, pty, select, signal, struct, sys, termios
rows, columns, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
ours, theirs = pty.openpty()
resize = lambda rows, columns: fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
resize(rows, columns)
before = termios.tcgetattr(theirs)
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2): os.dup2(theirs, fd)
    os.closerange(3, 100)
    os.execvp(command[0], command)
rest, code = b'', None
while code is None or select.select([ours], [], [], 0)[0]:
    for fd in select.select([0, ours] if code is None else [ours], [], [], 0.02)[0]:
        data = os.read(fd, 65536)
        if fd == ours: os.write(1, data)
        else: rest += data
    while b'\\n' in rest:
        line, rest = rest.split(b'\\n', 1)
        order, value = line.split(b' ', 1)
        value = json.loads(value)
        if order == b'type': os.write(ours, value.encode())
        elif order == b'size': resize(*value); os.kill(child, signal.SIGWINCH)
        else: os.kill(child, value)
    if code is None:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid: code = os.waitstatus_to_exitcode(status)
sys.stderr.write(json.dumps({'code': code, 'isRestored': before == termios.tcgetattr(theirs)}))
`
