import { type ChildProcess, execFile, execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Duplex, type Readable, type Writable } from 'node:stream'
import { isErrno, listChildren, listDescendants, spawnWithoutInheritedFds } from '../../../machine/index.ts'
import { isolationEnvironment, type Launch, quoteWord } from '../../isolation/index.ts'
import type { CommandTerminal, TerminalSize } from './command-terminal.ts'
import { TerminalOutput } from './terminal-output.ts'

/** Request for the identity of a terminal. Every terminal answers it, after all earlier requests. */
const IDENTIFY = '\x1b[c'
/** The answer, after its escape character. */
const IDENTITY = /\[\?[\d;]*c/
/** Longest wait for that answer. */
const ANSWER_TIMEOUT_MS = 300
/** The bytes of ^C and of the end of a line. */
const [INTERRUPT, LINE_FEED] = [3, 10]
/** Bytes of output that are kept for the error of a command that could not be started. */
const LAST_OUTPUT_BYTES = 4096
/** Field of `/proc/<pid>/stat` with the process group, counted from the end of the name. */
const GROUP_FIELD = 2

/**
 * A pseudo-terminal with a command in it, connected to the terminal of a person. `script` of util-linux creates it,
 * outside of the command's confinement. So the command can type into this terminal only, and it ends with the command.
 */
export class PseudoTerminal {
  readonly child: ChildProcess
  /** Called for ^C after the end of the command, while others that joined it go on. */
  onInterrupt: (() => void) | undefined
  readonly #terminal: CommandTerminal
  readonly #output = new TerminalOutput()
  readonly #ended: Promise<void>
  #lastOutput = Buffer.alloc(0)
  #exitCode: number | undefined
  #disconnect: () => void = () => undefined

  /** Starts the command of a launch. Its script has to be made with `createTerminalLines`. */
  constructor(launch: Launch, terminal: CommandTerminal, directory: string) {
    this.#terminal = terminal
    // The control channel moves to descriptor 5: a launch expects the standard error of its command at 4.
    const line = `exec 5>&4 4>&2 ${launch.argv.map(quoteWord).join(' ')}`
    this.child = spawnWithoutInheritedFds(
      'setpriv',
      [
        '--pdeathsig',
        'KILL',
        '--',
        'script',
        '--quiet',
        '--return',
        '--flush',
        '--command',
        line,
        '/dev/null',
      ],
      {
        cwd: directory,
        env: { ...isolationEnvironment, SHELL: '/bin/sh' },
        detached: true,
        // Descriptor 5 stays free: the control channel moves there.
        stdio: [
          ...(['pipe', 'pipe', 'ignore', 'pipe', 'pipe'] as const),
          ...(launch.listener === undefined ? [] : (['ignore', 'ipc'] as const)),
        ],
      },
    )
    launch.listener?.attach(this.child)
    this.#ended = this.#connect()
  }

  /** Resolves when everything is written; the terminal is then as it was before. */
  async close(): Promise<void> {
    await this.#ended
    await this.#releaseTerminal()
  }

  /** Exit code of the command; undefined before its end, and if its shell was killed. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  /** The last bytes of the output so far. */
  get lastOutput(): Uint8Array {
    return this.#lastOutput
  }

  /** Sends the command and its children the signal of a closed terminal. The programs that confine them go on. */
  hangUp(): void {
    const leader = this.#findLeader()
    if (leader === undefined) return
    const confining = findProcessGroup(leader)
    for (const pid of listDescendants(leader)) {
      const group = findProcessGroup(pid)
      if (group === undefined || group === confining) continue
      // A stopped program sees the signal only once it goes on.
      for (const signal of ['SIGHUP', 'SIGCONT'] as const) sendSignal(pid, signal)
    }
  }

  #connect(): Promise<void> {
    const { stdin, stdout, stdio } = this.child
    const control = stdio[4]
    // A program that could not be started has no streams.
    if (stdin === null || stdout === null || !(control instanceof Duplex)) return Promise.resolve()
    // The command may end before it has read all that is typed.
    stdin.on('error', () => undefined)
    this.#takeTerminal(stdin)
    this.#watchJob(control, stdin)
    return this.#connectOutput(stdout)
  }

  /** Connects the person's terminal to the command. */
  #takeTerminal(stdin: Writable): void {
    this.#terminal.setRaw(true)
    stopOutputProcessing(this.#terminal)
    const disconnects = [
      this.#terminal.onInput((chunk) => this.#passInput(chunk, stdin)),
      this.#terminal.onResize(() => this.#resize()),
      this.#terminal.onAnnouncement((line) => this.#announce(line)),
    ]
    this.#disconnect = () => {
      for (const disconnect of disconnects) disconnect()
    }
  }

  #passInput(chunk: Uint8Array, stdin: Writable): void {
    // No program is in the foreground any more that ^C could interrupt.
    if (this.#exitCode !== undefined && chunk.includes(INTERRUPT)) this.onInterrupt?.()
    else stdin.write(chunk)
  }

  #connectOutput(stdout: Readable): Promise<void> {
    stdout.on('data', async (chunk: Buffer) => {
      this.#lastOutput = Buffer.concat([this.#lastOutput, chunk]).subarray(-LAST_OUTPUT_BYTES)
      const written = this.#terminal.write(this.#output.filter(chunk))
      if (written === undefined) return
      stdout.pause()
      await written
      stdout.resume()
    })
    return new Promise((resolve) => stdout.once('close', resolve))
  }

  /** Reads the messages of the shell that holds the job: `stopped`, and the exit code at its end. */
  #watchJob(control: Duplex, stdin: Writable): void {
    control.on('error', () => undefined)
    control.on('data', async (message: Buffer) => {
      const text = message.toString('latin1').trim()
      if (text !== 'stopped') this.#exitCode = /^\d{1,3}$/.test(text) ? Number(text) : undefined
      else {
        await this.#releaseTerminal()
        await this.#terminal.suspend()
        this.#takeTerminal(stdin)
        this.#resize()
        control.write('go\n')
      }
    })
  }

  #resize(): void {
    this.#callStty(formatSize(this.#terminal.size()), () => undefined)
  }

  /** Shows a line. A program that reads single keys draws the screen by itself, and is not disturbed. */
  #announce(line: string): void {
    this.#callStty(['--all'], (settings) => {
      if (!/\sicanon\b/.test(settings)) return
      const before = this.#lastOutput.at(-1) === LINE_FEED || this.#lastOutput.length === 0 ? '' : '\r\n'
      this.#terminal.write(`${before}${line}\r\n`)
    })
  }

  /** Calls `stty` for the pseudo-terminal. The output is empty if the command has ended meanwhile. */
  #callStty(args: readonly string[], take: (output: string) => void): void {
    const leader = this.#findLeader()
    if (leader === undefined) return
    execFile(
      'stty',
      ['-F', `/proc/${leader}/fd/0`, ...args],
      { env: isolationEnvironment },
      (_error, output) => take(output),
    )
  }

  /** Finds the first process in the pseudo-terminal. It is outside of the command's confinement. */
  #findLeader(): number | undefined {
    const { pid } = this.child
    return pid === undefined ? undefined : listChildren(pid)[0]
  }

  /**
   * Disconnects the person's terminal and restores it. Late answers to requests of the command must not reach the
   * shell.
   */
  async #releaseTerminal(): Promise<void> {
    this.#disconnect()
    if (this.#output.hasRequests) await this.#discardAnswers()
    await this.#terminal.write(this.#output.reset())
    this.#terminal.setRaw(false)
  }

  /** Reads and drops input up to the answer to a request of our own, which follows all others. */
  async #discardAnswers(): Promise<void> {
    let answers = ''
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = this.#terminal.onInput((chunk) => {
      answers += Buffer.from(chunk).toString('latin1')
      if (IDENTITY.test(answers)) resolve()
    })
    const timer = setTimeout(resolve, ANSWER_TIMEOUT_MS)
    await this.#terminal.write(IDENTIFY)
    await promise
    clearTimeout(timer)
    stop()
  }
}

/**
 * Returns the last shell lines of a script that runs a command in a pseudo-terminal. The shell gives the command a
 * process group of its own in the foreground: ^C reaches none of the programs that confine it, and ^Z stops it.
 * Descriptor 5 is the channel of `PseudoTerminal`.
 */
export function createTerminalLines(command: string, settings: string): string[] {
  return [
    // Hides the messages of this shell about its job.
    'exec 6>&2 2>/dev/null',
    settings,
    // This shell outlives a closed terminal, so that the command can save its work.
    'trap : HUP INT QUIT TERM',
    'set -m',
    `${command} 2>&6 5>&- 6>&-`,
    'code=$?',
    // 147 to 150: stopped by a signal.
    'while [ $code -ge 147 ] && [ $code -le 150 ] && jobs %+ >/dev/null; do',
    '  echo stopped >&5',
    '  read -r answer <&5 || exit $code',
    '  fg >/dev/null',
    '  code=$?',
    'done',
    // A shell in a process namespace fails to give the terminal back, and then exits with another code.
    'echo $code >&5',
  ]
}

/** Returns the shell line that gives another terminal the settings and the size of this one. */
export function createSettingsLine(terminal: CommandTerminal): string {
  return `stty ${readSettings(terminal)}; stty ${formatSize(terminal.size()).join(' ')}`
}

/** Reads the keys and modes of a terminal, in the form that `stty` accepts. */
function readSettings({ descriptor }: CommandTerminal): string {
  try {
    const settings = execFileSync('stty', ['-g'], {
      stdio: [descriptor, 'pipe', 'ignore'],
      env: isolationEnvironment,
      encoding: 'latin1',
    }).trim()
    return /^[\da-f:]+$/.test(settings) ? settings : 'sane'
  } catch {
    return 'sane'
  }
}

/**
 * Lets a terminal show output unchanged, until its modes are restored. Raw mode of Node still adds a carriage return to
 * each line feed, which full-screen programs use to move straight down.
 */
function stopOutputProcessing({ descriptor }: CommandTerminal): void {
  // A closed terminal has no modes, and stty fails.
  spawnSync('stty', ['-opost'], { stdio: [descriptor, 'ignore', 'ignore'], env: isolationEnvironment })
}

function formatSize({ rows, columns }: TerminalSize): string[] {
  return ['rows', String(rows), 'cols', String(columns)]
}

function findProcessGroup(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[GROUP_FIELD])
  } catch {
    // The process has exited.
    return undefined
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // The process has exited, or has become another user's.
    if (!isErrno(error, 'ESRCH', 'EPERM')) throw error
  }
}
