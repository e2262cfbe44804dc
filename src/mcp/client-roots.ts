import { fileURLToPath } from 'node:url'
import { RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { formatError } from './client-error.ts'
import type { SessionContext } from './mcp-feature.ts'

/** A client that has not answered by then has no roots. */
const ROOTS_TIMEOUT_MS = 10_000

/** Takes the directories a client works in; null if it does not say. */
export type RootsListener = (roots: readonly string[] | null) => void

/** The directories a client says it works in, asked for at its start and whenever it says they changed. */
export class ClientRoots {
  readonly #session: SessionContext
  readonly #listener: RootsListener
  #request: Promise<void> = Promise.resolve()
  /** A question that is still to be put: it answers whatever is said until then. */
  #isWaiting = false

  constructor(session: SessionContext, tell: RootsListener) {
    this.#session = session
    this.#listener = tell
    session.onReady(() => this.#requestRoots())
    session.server.setNotificationHandler(RootsListChangedNotificationSchema, () => this.#requestRoots())
  }

  /** Resolves when what the client said last is known, so that no call is judged by what it said before. */
  waitUntilKnown(): Promise<void> {
    return this.#request
  }

  #requestRoots(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#request = this.#request.then(() => {
      this.#isWaiting = false
      return this.#refresh()
    })
  }

  async #refresh(): Promise<void> {
    const { server, log } = this.#session
    if (server.getClientCapabilities()?.roots === undefined) {
      this.#listener(null)
      return
    }
    try {
      const { roots } = await server.listRoots({}, { timeout: ROOTS_TIMEOUT_MS })
      this.#listener(roots.flatMap(({ uri }) => toDirectory(uri)))
    } catch (error) {
      // Who has roots and does not name them gets no directory rather than all of them.
      this.#listener([])
      await log.write(
        'warning',
        `the roots could not be listed, so no directory is allowed: ${formatError(error)}`,
      )
    }
  }
}

function toDirectory(uri: string): string[] {
  try {
    return [fileURLToPath(uri)]
  } catch {
    // A root that is not a directory of this machine allows nothing on it.
    return []
  }
}
