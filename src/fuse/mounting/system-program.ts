import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export interface SystemProgramOptions {
  readonly fd?: number | 'ignore'
  readonly signal?: AbortSignal
}

/**
 * Runs a program of the system, with `fd` as its descriptor 3; its complaint if it failed or is missing.
 * Not waited for in a way that blocks: this process may have to answer for the directory it is about. Once the signal is
 * aborted it is not waited for at all, though it may be there for as long as the kernel lets it wait.
 */
export async function runSystemProgram(
  file: string,
  args: readonly string[],
  { fd = 'ignore', signal }: SystemProgramOptions = {},
): Promise<string | undefined> {
  // Its words are looked at, so they have to be those everybody knows.
  const stdio = ['ignore', 'ignore', 'pipe', fd] as const
  // ^C is for us: were it ended by it, nobody would know whether what it mounts is mounted.
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
  const [outcome, words] = await Promise.all([end, child.stderr && text(child.stderr).catch(() => '')])
  if (outcome === 0) return undefined
  return words?.trim() || `${file}: ${outcome}`
}
