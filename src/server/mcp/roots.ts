import { fileURLToPath } from 'node:url'
import { RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { SessionFace } from './part.ts'
import { errorText } from './told-error.ts'

/** A client that has not answered by then has no roots. */
const PATIENCE_MS = 10_000

/** Takes the directories a client works in; null if it does not say. */
export type RootsListener = (roots: readonly string[] | null) => void

/** The directories a client says it works in, asked for at its start and whenever it says they changed. */
export class ClientRoots {
  readonly #session: SessionFace
  readonly #tell: RootsListener
  #asking: Promise<void> = Promise.resolve()
  /** A question that is still to be put: it answers whatever is said until then. */
  #isWaiting = false

  constructor(session: SessionFace, tell: RootsListener) {
    this.#session = session
    this.#tell = tell
    session.onReady(() => this.#ask())
    session.server.setNotificationHandler(RootsListChangedNotificationSchema, () => this.#ask())
  }

  /** Resolves when what the client said last is known, so that no call is judged by what it said before. */
  settled(): Promise<void> {
    return this.#asking
  }

  #ask(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#asking = this.#asking.then(() => {
      this.#isWaiting = false
      return this.#refresh()
    })
  }

  async #refresh(): Promise<void> {
    const { server, log } = this.#session
    if (server.getClientCapabilities()?.roots === undefined) {
      this.#tell(null)
      return
    }
    try {
      const { roots } = await server.listRoots({}, { timeout: PATIENCE_MS })
      this.#tell(roots.flatMap(({ uri }) => directoryOf(uri)))
    } catch (error) {
      // Who has roots and does not name them gets no directory rather than all of them.
      this.#tell([])
      await log.write(
        'warning',
        `the roots could not be listed, so no directory is allowed: ${errorText(error)}`,
      )
    }
  }
}

function directoryOf(uri: string): string[] {
  try {
    return [fileURLToPath(uri)]
  } catch {
    // A root that is not a directory of this machine allows nothing on it.
    return []
  }
}
