import { type ElicitRequestFormParams, ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Answer, Ask } from '../../tools/index.ts'
import { fitsQuestion } from '../text/index.ts'
import type { RequestExtra, SessionFace } from './part.ts'
import { errorText } from './told-error.ts'

/** Who has not answered by then does not answer. */
const PATIENCE_MS = 300_000

const requestedSchema: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: { allow: { type: 'boolean', title: 'Let it run once', default: false } },
  required: ['allow'],
}

/** The person at a client, to be asked while a request of it is under way; undefined if the client cannot ask. */
export function personBehind({ server, log }: SessionFace, extra: RequestExtra): Ask | undefined {
  if (server.getClientCapabilities()?.elicitation?.form === undefined) return undefined
  return async (message): Promise<Answer> => {
    // A client may show the beginning alone, and a yes would be for the rest as well.
    if (!fitsQuestion(message)) return 'too_long'
    try {
      const { action, content } = await extra.sendRequest(
        { method: 'elicitation/create', params: { message, requestedSchema } },
        ElicitResultSchema,
        { timeout: PATIENCE_MS, signal: extra.signal },
      )
      if (action === 'cancel') return 'dismissed'
      return action === 'accept' && content?.['allow'] === true ? 'yes' : 'no'
    } catch (error) {
      extra.signal.throwIfAborted()
      await log.write('warning', `nobody answered, so it does not run: ${errorText(error)}`, extra.requestId)
      return 'unanswered'
    }
  }
}
