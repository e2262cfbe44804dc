import { z } from 'zod'
import type { ModelResponse } from '../../../kernel/index.ts'
import { type ErrorCode, VfsError } from '../../../vfs/index.ts'
import { interpretStatus } from '../api/api-error.ts'
import type { ModelProgram, ProgramEnd } from './run-program.ts'

const count = z.number().nonnegative().catch(0)

// Schemas of the events that Claude Code and Cursor print. Events that match none of them are ignored.

/** Text and tool use of the model, from either program. */
const assistantEvent = z.object({
  type: z.literal('assistant'),
  message: z.object({
    content: z.array(z.object({ type: z.string(), text: z.string().optional().catch(undefined) })),
  }),
})

/** Tool use of Cursor's model. */
const toolCallEvent = z.object({ type: z.literal('tool_call') })

/** Part of a text of Claude Code's model. An assistant event repeats the whole text afterwards. */
const deltaEvent = z.object({
  type: z.literal('stream_event'),
  event: z.object({
    type: z.literal('content_block_delta'),
    delta: z.object({ type: z.literal('text_delta'), text: z.string() }),
  }),
})

/** Claude Code announces that it retries a request, although the API refused its credentials. */
const refusalEvent = z.object({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  attempt: z.number(),
  error_status: z.literal([401, 403]),
})

const resultEvent = z.object({
  type: z.literal('result'),
  subtype: z.string().catch(''),
  is_error: z.boolean().catch(false),
  result: z.string().optional().catch(undefined),
  /** `api_error` if the API failed; the status is null if it could not be reached. */
  terminal_reason: z.string().catch(''),
  api_error_status: z.number().nullable().catch(null),
  usage: z.record(z.string(), z.unknown()).catch({}),
})

type ProgramResult = z.output<typeof resultEvent>

/** Token counts in the results of Claude Code and of Cursor. */
const TOKEN_COUNTS = [
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'inputTokens',
  'outputTokens',
  'cacheWriteTokens',
  'cacheReadTokens',
]
/** Matches errors that ask the person to sign in. */
const NEEDS_LOGIN = /api[ _-]?key|log ?in|authenticat|unauthorized|\b401\b/i

/**
 * Number of the retry at which a refused Claude Code is stopped; it would make ten. If it only had to renew its sign-in,
 * the second succeeds.
 */
const LAST_REFUSED_ATTEMPT = 3

/** Builds the response of Claude Code or Cursor from the events that the program prints. */
export class ResponseBuilder {
  /** Text since its last tool use; earlier text only announces the tool. */
  #textSinceTool = ''
  #result: ProgramResult | undefined
  readonly #program: ModelProgram
  readonly #onText: (text: string) => void

  constructor(program: ModelProgram, onText: (text: string) => void) {
    this.#program = program
    this.#onText = onText
  }

  /** Adds an event. Throws EACCES if the API goes on refusing the credentials of the program. */
  add(event: object): void {
    this.#assertAccepted(event)
    const delta = deltaEvent.safeParse(event)
    if (delta.success) this.#onText(delta.data.event.delta.text)
    if (toolCallEvent.safeParse(event).success) this.#textSinceTool = ''
    const assistant = assistantEvent.safeParse(event)
    for (const { type, text = '' } of assistant.data?.message.content ?? []) {
      this.#textSinceTool = type === 'tool_use' ? '' : this.#textSinceTool + text
    }
    this.#result = resultEvent.safeParse(event).data ?? this.#result
  }

  /**
   * Returns the response after the program ended. Throws the code that belongs to a failure of the API, EACCES if the
   * program asks the person to sign in, EIO for any other failure.
   */
  toResponse({ exit, lastMessage }: ProgramEnd): ModelResponse {
    const [program, result] = [this.#program, this.#result]
    if (result !== undefined && (result.is_error || result.subtype.startsWith('error'))) {
      const why = result.result || lastMessage || result.subtype
      throw createProgramError(program, why, findApiCode(result))
    }
    if (exit !== 0)
      throw createProgramError(program, `the program ended with ${exit}: ${lastMessage || 'no reason given'}`)
    if (result === undefined) {
      throw createProgramError(program, `the program ended without a result: ${lastMessage || 'no output'}`)
    }
    return { content: this.#textSinceTool || (result.result ?? ''), tokens_used: sumTokens(result.usage) }
  }

  #assertAccepted(event: object): void {
    const { data: refusal } = refusalEvent.safeParse(event)
    if (refusal === undefined || refusal.attempt < LAST_REFUSED_ATTEMPT) return
    const why = `the API refuses its credentials (HTTP ${refusal.error_status}); sign in with it, or set a valid key`
    throw createProgramError(this.#program, why, 'EACCES')
  }
}

function sumTokens(usage: Readonly<Record<string, unknown>>): number {
  return TOKEN_COUNTS.reduce((sum, name) => sum + count.parse(usage[name]), 0)
}

/** Returns the code for a failure of the API, so that a temporary one is repeated; undefined for other failures. */
function findApiCode({ terminal_reason, api_error_status }: ProgramResult): ErrorCode | undefined {
  if (api_error_status === null && terminal_reason !== 'api_error') return undefined
  return interpretStatus(api_error_status ?? undefined).code
}

function createProgramError(
  { path, executable }: ModelProgram,
  why: string,
  code: ErrorCode = NEEDS_LOGIN.test(why) ? 'EACCES' : 'EIO',
): VfsError {
  return new VfsError(code, path, { op: 'write', detail: `'${executable}' failed: ${why}` })
}
