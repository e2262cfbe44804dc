import type { LoggingLevel, Server, ServerContext } from '@modelcontextprotocol/server'
import { getRequestedLogLevel } from './client-info.ts'

const severities: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** Log messages to the client: from `warning` on, until the client sets another level. */
export class SessionLog {
  readonly #server: Server
  readonly #canSendRequests: boolean
  #level: LoggingLevel = 'warning'

  constructor(server: Server, canSendRequests: boolean) {
    this.#server = server
    this.#canSendRequests = canSendRequests
    server.setRequestHandler('logging/setLevel', ({ params }) => {
      this.#level = params.level
      return {}
    })
  }

  /**
   * Sends a message if the client wants its level; along with a request if it belongs to one. A client of revision
   * 2026-07-28 names the level in each request, and gets no other messages. Never fails: a disconnected client
   * misses it.
   */
  async write(level: LoggingLevel, data: unknown, request?: ServerContext['mcpReq']): Promise<void> {
    const minLevel = this.#canSendRequests ? this.#level : request && getRequestedLogLevel(request)
    if (minLevel === undefined || severities.indexOf(level) < severities.indexOf(minLevel)) return
    const notice = { method: 'notifications/message' as const, params: { level, logger: 'coppice', data } }
    const options = request === undefined ? {} : { relatedRequestId: request.id }
    await this.#server.notification(notice, options).catch(() => {})
  }
}
