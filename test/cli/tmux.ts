import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { whyNoProgram } from '../support/debian-programs.ts'

const PATIENCE_MS = 20_000

/** Reason why no terminal can be driven here; undefined if one can. */
export function whyNoTmux(): string | undefined {
  if (process.platform !== 'linux') return 'pseudo-terminals of commands are for Linux'
  return whyNoProgram('tmux')
}

/** A terminal of tmux with a program in it, which a test types into and reads as a person does. */
export class Tmux {
  readonly #socket = `coppice-${randomBytes(6).toString('hex')}`

  constructor(command: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    // By `env`, since tmux sets PATH by itself.
    const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const size = ['-x', '100', '-y', '30']
    this.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, '-c', cwd, 'env', ...settings, ...command)
    onTestFinished(() => this.close())
  }

  /** Types keys by their names, such as `C-c`, or a text. */
  keys(...keys: string[]): void {
    this.#tmux('send-keys', ...keys)
  }

  /** Types a line and Enter. */
  line(text: string): void {
    this.#tmux('send-keys', '-l', text)
    this.keys('Enter')
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows))
  }

  /** Returns the visible text. */
  screen(): string {
    return this.#tmux('capture-pane', '-p')
  }

  /** Returns a variable of the terminal, such as `mouse_any_flag`. */
  variable(name: string): string {
    return this.#tmux('display-message', '-p', `#{${name}}`).trim()
  }

  /** Resolves when a line of the screen matches. */
  async shows(pattern: RegExp): Promise<void> {
    await expect.poll(() => this.screen(), { timeout: PATIENCE_MS }).toMatch(pattern)
  }

  /** Closes the terminal, as a person does with its window. */
  close(): void {
    try {
      this.#tmux('kill-server')
    } catch {
      // It is closed already.
    }
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
}
