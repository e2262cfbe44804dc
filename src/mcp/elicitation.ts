import { createHash } from 'node:crypto'
import {
  type ElicitRequestFormParams,
  type InputRequests,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server'
import { fitsInQuestion } from '../text/index.ts'
import type { AskPerson, PersonAnswer } from '../tools/index.ts'
import { formatError } from './client-error.ts'
import { getClientCapabilities } from './client-info.ts'
import type { RequestExtra, SessionContext } from './mcp-feature.ts'

/** Time after which a question counts as unanswered. */
const ELICITATION_TIMEOUT_MS = 300_000

const requestedSchema: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: { allow: { type: 'boolean', title: 'Let it run once', default: false } },
  required: ['allow'],
}

/** A filled-in form. */
interface FormAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: Readonly<Record<string, unknown>> | undefined
}

/** Questions to the client's person during a tool call. */
export interface Elicitor {
  /** Undefined if the client has no person to ask. */
  readonly ask: AskPerson | undefined
  /** Questions that the result asks, and the client answers when it calls again; empty if all are answered. */
  readonly unanswered: InputRequests
}

export function createElicitor(session: SessionContext, extra: RequestExtra): Elicitor {
  const unanswered: InputRequests = {}
  if (getClientCapabilities(session, extra.mcpReq)?.elicitation?.form === undefined)
    return { ask: undefined, unanswered }
  const ask = session.canSendRequests
    ? (message: string, signal?: AbortSignal) => sendQuestion(session, extra, message, signal)
    : async (message: string) => findAnswer(extra, unanswered, message)
  // A client may show only the beginning, but a yes would cover the rest.
  return {
    ask: async (message, signal) => (fitsInQuestion(message) ? ask(message, signal) : 'too_long'),
    unanswered,
  }
}

async function sendQuestion(
  { log }: SessionContext,
  { mcpReq }: RequestExtra,
  message: string,
  withdrawn: AbortSignal = mcpReq.signal,
): Promise<PersonAnswer> {
  const signal = AbortSignal.any([mcpReq.signal, withdrawn])
  try {
    const answer = await mcpReq.send(
      { method: 'elicitation/create', params: { message, requestedSchema } },
      { timeout: ELICITATION_TIMEOUT_MS, signal },
    )
    return toPersonAnswer(answer)
  } catch (error) {
    signal.throwIfAborted()
    await log.write('warning', `nobody answered, so it does not run: ${formatError(error)}`, mcpReq)
    return 'unanswered'
  }
}

/** Returns the answer that came with the request, or adds the question to those that its result asks. */
function findAnswer({ mcpReq }: RequestExtra, unanswered: InputRequests, message: string): PersonAnswer {
  // The key is that of the text: an answer counts for exactly the question that the person saw.
  const key = createHash('sha256').update(message).digest('hex')
  const answer = inputResponse(mcpReq.inputResponses, key)
  if (answer.kind === 'elicit') return toPersonAnswer(answer)
  unanswered[key] = inputRequired.elicit({ message, requestedSchema })
  return 'unanswered'
}

/** Only a clear no is final: a form that was sent without the field decides nothing. */
function toPersonAnswer({ action, content }: FormAnswer): PersonAnswer {
  const allow = action === 'accept' ? content?.['allow'] : action === 'decline' ? false : undefined
  return allow === true ? 'yes' : allow === false ? 'no' : 'dismissed'
}
