import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

export interface ProgramOptions {
  /** Its descriptor 3. */
  readonly fd?: number
  /** Nobody waits for it any longer once this is aborted. */
  readonly signal?: AbortSignal
}

/**
 * Runs a program of the system; its complaint if it failed or is missing.
 * Not waited for in a way that blocks: this process may have to answer for the directory it is about.
 */
export async function complaintOf(
  file: string,
  args: readonly string[],
  { fd, signal }: ProgramOptions = {},
): Promise<string | undefined> {
  // Its words are looked at, so they have to be those everybody knows.
  const child = spawn('env', ['LC_ALL=C', file, ...args], {
    stdio: ['ignore', 'ignore', 'pipe', fd ?? 'ignore'],
  })
  signal?.addEventListener('abort', () => {
    child.kill('SIGKILL')
    // It may wait for the kernel, and then for as long as that likes.
    child.unref()
    child.stderr?.destroy()
  })
  const { promise: end, resolve } = Promise.withResolvers<number | string>()
  child.once('error', (error) => resolve(error.message))
  child.once('exit', (status) => resolve(status ?? 'it was killed'))
  const [outcome, words] = await Promise.all([end, child.stderr === null ? '' : text(child.stderr)])
  if (outcome === 0) return undefined
  return words.trim() || `${file}: ${outcome}`
}
