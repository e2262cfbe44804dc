import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Beside the results: the system's temporary directory may be in memory. */
const PARENT = fileURLToPath(new URL('../results/', import.meta.url))

/** The directory of one run, and the signal that ends the run early. */
export interface Workspace extends AsyncDisposable {
  readonly directory: string
  readonly signal: AbortSignal
}

/** Interrupted by the user: nothing went wrong. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Ctrl-C and SIGTERM abort the run instead of the process, which so comes to remove what lies in the directory. */
export async function openWorkspace(): Promise<Workspace> {
  await mkdir(PARENT, { recursive: true })
  const directory = await mkdtemp(`${PARENT}run-`)
  const controller = new AbortController()
  const abort = () => controller.abort(new Interrupted('interrupted'))
  process.once('SIGINT', abort)
  process.once('SIGTERM', abort)
  return {
    directory,
    signal: controller.signal,
    async [Symbol.asyncDispose]() {
      process.off('SIGINT', abort)
      process.off('SIGTERM', abort)
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
