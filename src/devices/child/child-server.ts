import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { spawnWithoutInheritedFds } from '../../machine/index.ts'
import { createGroupTree, RUN_ID_VARIABLE } from '../../workspace/session/index.ts'

/** Of what a server said about its failure, the end tells most. */
const MAX_STDERR_CHARACTERS = 2000

export interface ChildServerSpec {
  readonly command: string
  readonly args: readonly string[]
  /** All of its environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd?: string | undefined
  /** Takes what is secret out of its last words, which are cut off anywhere; nothing when absent. */
  readonly hide?: (text: string) => string
}

/** A server that runs as a process of this machine. */
export class ChildServer {
  /** Fulfilled when it runs; rejects if it cannot be started. */
  readonly started: Promise<void>
  /** Fulfilled when it has ended, or could not be started, and all its output was read. */
  readonly ended: Promise<void>
  readonly stdin: Writable
  readonly stdout: Readable
  readonly #errors: Readable
  readonly #child: ChildProcess
  readonly #mark = randomBytes(8).toString('hex')
  readonly #hide: (text: string) => string
  #stderr = ''

  constructor({ command, args, env, cwd, hide = (text) => text }: ChildServerSpec) {
    this.#hide = hide
    this.#child = spawnWithoutInheritedFds(command, args, {
      cwd,
      env: { ...env, [RUN_ID_VARIABLE]: this.#mark },
      // A group of its own, so that it can be ended as a whole; and Ctrl-C is not for it.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const { stdin, stdout, stderr } = this.#child
    if (stdin === null || stdout === null || stderr === null) throw new TypeError('a server has three pipes')
    this.stdin = stdin
    this.stdout = stdout
    this.#errors = stderr
    this.started = new Promise((resolve, reject) => {
      this.#child.once('spawn', resolve)
      this.#child.once('error', reject)
    })
    this.ended = this.#waitForEnd()
    // Whoever does not ask whether it started is told by its end.
    this.started.catch(() => {})
    // One that ends without reading its input says why in another way.
    this.stdin.on('error', () => {})
    this.#errors.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-MAX_STDERR_CHARACTERS)
    })
  }

  /** What it said last on its standard error. */
  get stderrTail(): string {
    return this.#hide(this.#stderr).trim()
  }

  /** Lets it end by itself after its input has, for a while; then it is ended with all it started. */
  async close(graceMs: number): Promise<void> {
    this.stdin.end()
    const late = setTimeout(() => this.kill(), graceMs)
    await this.ended
    clearTimeout(late)
  }

  /** Ends it at once, with all it started. */
  kill(): void {
    const { pid } = this.#child
    if (pid !== undefined) createGroupTree(pid, this.#mark).kill()
    this.stdout.destroy()
    this.#errors.destroy()
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
