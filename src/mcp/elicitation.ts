import { type ElicitRequestFormParams, ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { fitsInQuestion } from '../text/index.ts'
import type { AskPerson, PersonAnswer } from '../tools/index.ts'
import { formatError } from './client-error.ts'
import type { RequestExtra, SessionContext } from './mcp-feature.ts'

/** Who has not answered by then does not answer. */
const ELICITATION_TIMEOUT_MS = 300_000

const requestedSchema: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: { allow: { type: 'boolean', title: 'Let it run once', default: false } },
  required: ['allow'],
}

/** The person at a client, to be asked while a request of it is under way; undefined if the client cannot ask. */
export function createElicitor({ server, log }: SessionContext, extra: RequestExtra): AskPerson | undefined {
  if (server.getClientCapabilities()?.elicitation?.form === undefined) return undefined
  return async (message): Promise<PersonAnswer> => {
    // A client may show the beginning alone, and a yes would be for the rest as well.
    if (!fitsInQuestion(message)) return 'too_long'
    try {
      const { action, content } = await extra.sendRequest(
        { method: 'elicitation/create', params: { message, requestedSchema } },
        ElicitResultSchema,
        { timeout: ELICITATION_TIMEOUT_MS, signal: extra.signal },
      )
      if (action === 'cancel') return 'dismissed'
      return action === 'accept' && content?.['allow'] === true ? 'yes' : 'no'
    } catch (error) {
      extra.signal.throwIfAborted()
      await log.write(
        'warning',
        `nobody answered, so it does not run: ${formatError(error)}`,
        extra.requestId,
      )
      return 'unanswered'
    }
  }
}
