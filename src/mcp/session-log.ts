import type { LoggingLevel, RequestId, Server } from '@modelcontextprotocol/server'

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
  #level: LoggingLevel = 'warning'

  constructor(server: Server) {
    this.#server = server
    server.setRequestHandler('logging/setLevel', ({ params }) => {
      this.#level = params.level
      return {}
    })
  }

  /**
   * Sends a message if the client wants its level; along with a request if it belongs to one. Never fails:
   * a disconnected client misses it.
   */
  async write(level: LoggingLevel, data: unknown, relatedRequestId?: RequestId): Promise<void> {
    if (severities.indexOf(level) < severities.indexOf(this.#level)) return
    const notice = { method: 'notifications/message' as const, params: { level, logger: 'coppice', data } }
    const beside = relatedRequestId === undefined ? {} : { relatedRequestId }
    await this.#server.notification(notice, beside).catch(() => {})
  }
}
