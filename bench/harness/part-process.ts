import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Settings } from './benchmark.ts'
import { isMessage, type Message } from './messages.ts'

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url))

export interface PartProcessOptions {
  readonly settings: Settings
  readonly onMessage: (message: Message) => void
  /** Kills the process and all it has started. */
  readonly signal?: AbortSignal
}

/** Runs a module's `measure` in a process of its own, until that ends. */
export async function runPart(
  module: URL,
  { settings, onMessage, signal }: PartProcessOptions,
): Promise<void> {
  signal?.throwIfAborted()
  const child = fork(CHILD, [module.href, JSON.stringify(settings)], {
    execArgv: ['--expose-gc', '--no-warnings'],
    // Whoever can stop it leads a group of its own, so that what it has started stops with it.
    detached: signal !== undefined,
  })
  const stop = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
  signal?.addEventListener('abort', stop)
  child.on('message', (message) => {
    if (isMessage(message)) onMessage(message)
  })
  // The last messages may still be on their way when the process is gone: the channel ends after them.
  const [[code, killedBy]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  signal?.removeEventListener('abort', stop)
  signal?.throwIfAborted()
  if (code !== 0) throw new Error(`failed (${killedBy ?? `exit code ${code}`}); the error is above`)
}
