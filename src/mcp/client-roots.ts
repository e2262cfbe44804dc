import { fileURLToPath } from 'node:url'
import { type InputRequest, inputRequired, inputResponse } from '@modelcontextprotocol/server'
import { formatError } from './client-error.ts'
import { getClientCapabilities } from './client-info.ts'
import type { RequestExtra, SessionContext } from './mcp-feature.ts'

/** Time after which a client that has not named its roots gets no directory. */
const ROOTS_TIMEOUT_MS = 10_000

/** Key of the roots among the answers that a client sends with a call. */
export const ROOTS_KEY = 'roots'

/** Receives a client's directories; null if it does not support roots, which is no restriction. */
export type RootsListener = (roots: readonly string[] | null) => void

/** The directories of a client, requested by its first call and by the first after every change notification. */
export class ClientRoots {
  readonly #session: SessionContext
  readonly #listener: RootsListener
  /** Latest request; undefined if the client has to be asked by the next call. */
  #request: Promise<void> | undefined
  /** True once a client of revision 2026-07-28 has sent its roots. */
  #hasRoots = false

  constructor(session: SessionContext, listener: RootsListener) {
    this.#session = session
    this.#listener = listener
    session.server.setNotificationHandler('notifications/roots/list_changed', () => {
      this.#request = undefined
    })
  }

  /**
   * Resolves once the latest roots are known, so that no call is checked against older ones. Returns a request for the
   * roots if the client can only send them with its next call.
   */
  async request(extra: RequestExtra): Promise<InputRequest | undefined> {
    if (!this.#session.canSendRequests) return this.#receiveRoots(extra)
    // A client that has not said what it can do has no directory yet.
    if (this.#session.server.getClientCapabilities() === undefined) return undefined
    for (;;) {
      extra.mcpReq.signal.throwIfAborted()
      const request = this.#request ?? this.#startRequest(extra)
      await request
      if (this.#request === request) return undefined
      // They changed meanwhile, or the call that asked for them was cancelled: ask again.
    }
  }

  /**
   * Applies the roots that came with a call, or returns a request for them. Clients of revision 2026-07-28 report no
   * changes of their roots: the first ones count.
   */
  #receiveRoots(extra: RequestExtra): InputRequest | undefined {
    if (this.#hasRoots) return undefined
    const supportsRoots = getClientCapabilities(this.#session, extra.mcpReq)?.roots !== undefined
    const answer = inputResponse(extra.mcpReq.inputResponses, ROOTS_KEY)
    if (supportsRoots && answer.kind !== 'roots') return inputRequired.listRoots()
    this.#hasRoots = true
    this.#listener(answer.kind === 'roots' ? answer.roots.flatMap(({ uri }) => toDirectory(uri)) : null)
    return undefined
  }

  #startRequest(extra: RequestExtra): Promise<void> {
    const request: Promise<void> = this.#refresh(extra, () => this.#request === request)
    this.#request = request
    return request
  }

  /** Asks for the roots. An answer that arrives after a later request is dropped: it may allow what no root does now. */
  async #refresh({ mcpReq }: RequestExtra, isLatest: () => boolean): Promise<void> {
    const { server, log } = this.#session
    if (server.getClientCapabilities()?.roots === undefined) {
      this.#listener(null)
      return
    }
    try {
      // By the channel of the call: over HTTP, a client may have no other one open.
      const { roots } = await mcpReq.send(
        { method: 'roots/list' },
        { timeout: ROOTS_TIMEOUT_MS, signal: mcpReq.signal },
      )
      if (isLatest()) this.#listener(roots.flatMap(({ uri }) => toDirectory(uri)))
    } catch (error) {
      if (!isLatest()) return
      // A client with roots that fails to name them gets no directory.
      this.#listener([])
      if (mcpReq.signal.aborted) this.#request = undefined
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
