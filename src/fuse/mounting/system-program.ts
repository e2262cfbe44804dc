import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export interface SystemProgramOptions {
  readonly fd?: number | 'ignore'
  readonly signal?: AbortSignal
}

/**
 * Runs a system program with `fd` as its descriptor 3. Returns undefined if it succeeded, otherwise its error output or the
 * reason why it has none.
 * It does not block: this process may have to serve the directory concerned.
 * Once the signal aborts it stops waiting, though the program may continue in the kernel.
 */
export async function runSystemProgram(
  file: string,
  args: readonly string[],
  { fd = 'ignore', signal }: SystemProgramOptions = {},
): Promise<string | undefined> {
  const stdio = ['ignore', 'ignore', 'pipe', fd] as const
  // In the C locale, because callers parse the error output. Detached, so that ^C does not kill it with its mount in an unknown state.
  const child = spawn('env', ['LC_ALL=C', file, ...args], { stdio: [...stdio], detached: true })
  const { promise: end, resolve } = Promise.withResolvers<number | string>()
  child.once('error', (error) => resolve(error.message))
  child.once('exit', (status) => resolve(status ?? 'it was killed'))
  signal?.addEventListener('abort', () => {
    child.kill('SIGKILL')
    child.unref()
    child.stderr?.destroy()
    resolve('it takes too long')
  })
  const [outcome, complaint] = await Promise.all([end, child.stderr && text(child.stderr).catch(() => '')])
  if (outcome === 0) return undefined
  return complaint?.trim() || `${file}: ${outcome}`
}
