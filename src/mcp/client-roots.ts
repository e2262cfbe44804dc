import { fileURLToPath } from 'node:url'
import { formatError } from './client-error.ts'
import type { SessionContext } from './mcp-feature.ts'

/** Time after which a client without a response has no roots. */
const ROOTS_TIMEOUT_MS = 10_000

/** Receives a client's directories; null if it names none. */
export type RootsListener = (roots: readonly string[] | null) => void

/** The directories of a client, requested at its start and after every change notification. */
export class ClientRoots {
  readonly #session: SessionContext
  readonly #listener: RootsListener
  #request: Promise<void> = Promise.resolve()
  /** True while a request is queued: it covers all changes until it is sent. */
  #isWaiting = false

  constructor(session: SessionContext, listener: RootsListener) {
    this.#session = session
    this.#listener = listener
    session.onReady(() => this.#requestRoots())
    session.server.setNotificationHandler('notifications/roots/list_changed', () => this.#requestRoots())
  }

  /** Resolves once the latest roots are known, so that no call is checked against older ones. */
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
      // A client with roots that fails to name them gets no directory.
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
    // A root that is not a host directory allows nothing.
    return []
  }
}
