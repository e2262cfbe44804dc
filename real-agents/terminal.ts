import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { poll } from './story.ts'

const run = promisify(execFile)

/** A terminal of tmux, which a story types into and reads as a person does. */
export class Terminal implements AsyncDisposable {
  readonly #socket: string
  readonly #signal: AbortSignal

  private constructor(socket: string, signal: AbortSignal) {
    this.#socket = socket
    this.#signal = signal
  }

  /** Opens a terminal with a shell in a directory. Throws if tmux is not installed. */
  static async open(
    directory: string,
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Terminal> {
    const terminal = new Terminal(`coppice-real-${randomBytes(4).toString('hex')}`, signal)
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const size = ['-x', '120', '-y', '40']
    const shell = ['env', '-i', 'TERM=tmux-256color', ...variables, 'bash', '--norc']
    await terminal.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, '-c', directory, ...shell)
    return terminal
  }

  /** Types a text, then keys by their names, such as `Enter`. */
  async type(text: string, ...keys: readonly string[]): Promise<void> {
    if (text !== '') await this.#tmux('send-keys', '-l', text)
    if (keys.length > 0) await this.#tmux('send-keys', ...keys)
  }

  /** Resolves with the screen once it matches. */
  async shows(pattern: RegExp): Promise<string> {
    let screen = ''
    const look = async () => {
      screen = await this.#tmux('capture-pane', '-p')
      return pattern.test(screen) ? screen : undefined
    }
    try {
      return await poll(look, this.#signal)
    } catch (error) {
      throw new Error(`the screen does not show ${pattern}:\n${screen.trimEnd()}`, { cause: error })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tmux('kill-server').catch(() => undefined)
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    return (await run('tmux', ['-L', this.#socket, ...args])).stdout
  }
}
