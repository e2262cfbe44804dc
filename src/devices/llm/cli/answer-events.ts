import { z } from 'zod'
import type { ModelResponse } from '../../../kernel/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import type { ModelProgram, ProgramEnd } from './run-program.ts'

const count = z.number().nonnegative().catch(0)

/** Events that both programs print: `system`, `assistant`, `tool_call`, `result`. Others are ignored. */
const assistantEvent = z.object({
  type: z.literal('assistant'),
  message: z.object({
    content: z.array(z.object({ type: z.string(), text: z.string().optional().catch(undefined) })),
  }),
})

const toolCallEvent = z.object({ type: z.literal('tool_call') })

/** Part of a text, before the whole of it. */
const deltaEvent = z.object({
  type: z.literal('stream_event'),
  event: z.object({
    type: z.literal('content_block_delta'),
    delta: z.object({ type: z.literal('text_delta'), text: z.string() }),
  }),
})

const resultEvent = z.object({
  type: z.literal('result'),
  subtype: z.string().catch(''),
  is_error: z.boolean().catch(false),
  result: z.string().optional().catch(undefined),
  usage: z.record(z.string(), z.unknown()).catch({}),
})

/** Names of the token counts in either program. */
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

/** Assembles a program's response, event by event. */
export class AnswerEvents {
  /** Text since its last tool use; earlier text only announces the tool. */
  #textSinceTool = ''
  #result: z.output<typeof resultEvent> | undefined
  readonly #onText: (text: string) => void

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  add(event: object): void {
    const delta = deltaEvent.safeParse(event)
    if (delta.success) this.#onText(delta.data.event.delta.text)
    if (toolCallEvent.safeParse(event).success) this.#textSinceTool = ''
    const assistant = assistantEvent.safeParse(event)
    for (const { type, text = '' } of assistant.data?.message.content ?? []) {
      this.#textSinceTool = type === 'tool_use' ? '' : this.#textSinceTool + text
    }
    this.#result = resultEvent.safeParse(event).data ?? this.#result
  }

  /** Returns the response. EACCES if the program asks the person to sign in, EIO for any other failure. */
  response(program: ModelProgram, { exit, stderrTail }: ProgramEnd): ModelResponse {
    const result = this.#result
    if (result !== undefined && (result.is_error || result.subtype.startsWith('error'))) {
      throw createProgramError(program, result.result || stderrTail || result.subtype)
    }
    if (exit !== 0)
      throw createProgramError(program, `the program ended with ${exit}: ${stderrTail || 'no reason given'}`)
    if (result === undefined) {
      throw createProgramError(program, `the program ended without a result: ${stderrTail || 'no output'}`)
    }
    return { content: this.#textSinceTool || (result.result ?? ''), tokens_used: sumTokens(result.usage) }
  }
}

function sumTokens(usage: Readonly<Record<string, unknown>>): number {
  return TOKEN_COUNTS.reduce((sum, name) => sum + count.parse(usage[name]), 0)
}

function createProgramError({ path, executable }: ModelProgram, why: string): VfsError {
  const code = NEEDS_LOGIN.test(why) ? 'EACCES' : 'EIO'
  return new VfsError(code, path, { op: 'write', detail: `'${executable}' failed: ${why}` })
}
