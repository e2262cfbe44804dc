import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { createGroupTree, RUN_ID_VARIABLE, spawnWithoutInheritedFds } from '../../machine/index.ts'

/** Characters of standard error to keep: the end of the output explains a failure best. */
const MAX_STDERR_CHARACTERS = 2000

export interface ChildServerSpec {
  readonly command: string
  readonly args: readonly string[]
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd?: string | undefined
  /** Redacts secrets from the tail of standard error, which may be cut anywhere; no redaction when absent. */
  readonly hide?: (text: string) => string
}

/** A server that runs as a child process. */
export class ChildServer {
  /** Fulfilled once the process runs; rejects if it cannot be started. */
  readonly started: Promise<void>
  /**
   * Fulfilled once the process has ended, or failed to start, and its pipes are closed. Output that was not read by
   * then is lost.
   */
  readonly ended: Promise<void>
  readonly stdin: Writable
  readonly stdout: Readable
  readonly #stderr: Readable
  readonly #child: ChildProcess
  readonly #runId = randomBytes(8).toString('hex')
  readonly #hide: (text: string) => string
  #stderrText = ''

  constructor({ command, args, env, cwd, hide = (text) => text }: ChildServerSpec) {
    this.#hide = hide
    this.#child = spawnWithoutInheritedFds(command, args, {
      cwd,
      env: { ...env, [RUN_ID_VARIABLE]: this.#runId },
      // A process group of its own: it can be killed as a whole, and Ctrl-C does not reach it.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const { stdin, stdout, stderr } = this.#child
    if (stdin === null || stdout === null || stderr === null) throw new TypeError('a server has three pipes')
    this.stdin = stdin
    this.stdout = stdout
    this.#stderr = stderr
    this.started = new Promise((resolve, reject) => {
      this.#child.once('spawn', resolve)
      this.#child.once('error', reject)
    })
    this.ended = this.#waitForEnd()
    // A caller that does not await the start learns of a failure from `ended`.
    this.started.catch(() => {})
    // A process that ends without reading its input reports the reason elsewhere.
    this.stdin.on('error', () => {})
    this.#stderr.on('data', (chunk: Buffer) => {
      this.#stderrText = (this.#stderrText + chunk.toString('utf8')).slice(-MAX_STDERR_CHARACTERS)
    })
  }

  /** Last characters of the standard error, redacted. */
  get stderrTail(): string {
    return this.#hide(this.#stderrText).trim()
  }

  /** Closes its input and waits for the process to end; after the grace period, kills its process group. */
  async close(graceMs: number): Promise<void> {
    this.stdin.end()
    const killTimer = setTimeout(() => this.kill(), graceMs)
    await this.ended
    clearTimeout(killTimer)
  }

  /** Kills the process group at once, and closes the output. */
  kill(): void {
    const { pid } = this.#child
    if (pid !== undefined) createGroupTree(pid, this.#runId).kill()
    this.stdout.destroy()
    this.#stderr.destroy()
  }

  #waitForEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#child.once('exit', () => this.kill())
      this.#child.once('close', () => resolve())
      this.#child.once('error', () => {
        if (this.#child.pid === undefined) resolve()
      })
    })
  }
}
