import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { EngineName } from '../../src/backends/vault/index.ts'
import { programFile } from '../support/program-file.ts'

/** A process of its own that serves a vault. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(home: string, directory: string, engine: EngineName = 'sqlite'): Promise<ServerProcess> {
    const child = spawn(process.execPath, [programFile('serve-vault'), home, directory, engine], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    await once(child.stdout, 'data')
    return new ServerProcess(child)
  }

  /** It answers nobody until this is disposed of. */
  silenced(): Disposable {
    this.#child.kill('SIGSTOP')
    return { [Symbol.dispose]: () => void this.#child.kill('SIGCONT') }
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}
