import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { fitsInQuestion } from '../text/index.ts'
import type { AskPerson, PersonAnswer } from '../tools/index.ts'
import { formatError } from './client-error.ts'
import type { RequestExtra, SessionContext } from './mcp-feature.ts'

/** Time after which a question counts as unanswered. */
const ELICITATION_TIMEOUT_MS = 300_000

const requestedSchema: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: { allow: { type: 'boolean', title: 'Let it run once', default: false } },
  required: ['allow'],
}

/** Returns a prompt for the client's person during a request; undefined if the client has none. */
export function createElicitor(
  { server, log }: SessionContext,
  { mcpReq }: RequestExtra,
): AskPerson | undefined {
  if (server.getClientCapabilities()?.elicitation?.form === undefined) return undefined
  return async (message): Promise<PersonAnswer> => {
    // A client may show only the beginning, but a yes would cover the rest.
    if (!fitsInQuestion(message)) return 'too_long'
    try {
      const { action, content } = await mcpReq.send(
        { method: 'elicitation/create', params: { message, requestedSchema } },
        { timeout: ELICITATION_TIMEOUT_MS, signal: mcpReq.signal },
      )
      if (action === 'cancel') return 'dismissed'
      return action === 'accept' && content?.['allow'] === true ? 'yes' : 'no'
    } catch (error) {
      mcpReq.signal.throwIfAborted()
      await log.write('warning', `nobody answered, so it does not run: ${formatError(error)}`, mcpReq.id)
      return 'unanswered'
    }
  }
}
