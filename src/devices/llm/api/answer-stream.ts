import type { TextStreamPart, ToolCallPart, ToolSet } from 'ai'
import { z } from 'zod'
import { VfsError } from '../../../vfs/index.ts'
import { formatReason, toApiError } from './api-error.ts'
import { ReasoningBlocks, type ReasoningPart } from './reasoning-blocks.ts'

const MAX_REFUSAL_CHARACTERS = 500

/** A complete model response. */
export interface StreamedAnswer {
  readonly content: string
  readonly tokensUsed: number
  /** Tool calls in order. */
  readonly calls: readonly ToolCallPart[]
  /** Reasoning that the provider signed. */
  readonly reasoning: readonly ReasoningPart[]
}

/**
 * Reads a response stream to its end. EUNAVAILABLE if it breaks off, EIO if the model refuses to answer or the answer
 * is empty; an error before the first output is converted by `toApiError`.
 */
export async function readAnswerStream(
  path: string,
  stream: AsyncIterable<TextStreamPart<ToolSet>>,
  onText: (text: string) => void,
): Promise<StreamedAnswer> {
  const state = new AnswerState(path)
  try {
    for await (const part of stream) {
      state.add(part)
      if (part.type === 'text-delta') onText(part.text)
    }
  } catch (error) {
    throw state.toError(error)
  }
  return state.finish()
}

/** End of a response, in the words of the SDK and of the provider. */
interface FinishReason {
  readonly reason: string
  readonly raw: string
}

class AnswerState {
  readonly #path: string
  #content = ''
  readonly #calls: ToolCallPart[] = []
  readonly #reasoning = new ReasoningBlocks()
  #tokensUsed = 0
  #hasBegun = false
  #refusal = ''
  #finish: FinishReason | undefined

  constructor(path: string) {
    this.#path = path
  }

  add(part: TextStreamPart<ToolSet>): void {
    switch (part.type) {
      case 'text-delta':
        this.#content += part.text
        this.#hasBegun = true
        return
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#reasoning.add(part)
        this.#hasBegun = true
        return
      case 'tool-input-start':
        this.#hasBegun = true
        return
      case 'tool-call':
        this.#calls.push(toToolCallPart(part))
        this.#hasBegun = true
        return
      case 'raw':
        this.#refusal += findRefusal(part.rawValue)
        return
      case 'finish':
        // Without a raw reason, the SDK invented one for a stream that just ended.
        if (part.rawFinishReason !== undefined)
          this.#finish = { reason: part.finishReason, raw: part.rawFinishReason }
        this.#tokensUsed = part.totalUsage.totalTokens ?? 0
        return
      case 'error':
        throw part.error
    }
  }

  /** Converts an error: before the first output it is the provider's response, later the stream broke off. */
  toError(error: unknown): VfsError {
    return this.#hasBegun
      ? this.#createInterruptedError(formatReason(error), error)
      : toApiError(this.#path, error)
  }

  /** Returns the complete response, or throws what is wrong with it. */
  finish(): StreamedAnswer {
    if (this.#finish === undefined) throw this.#createInterruptedError('it has no end')
    const { reason, raw } = this.#finish
    if (this.#refusal !== '') throw this.#createRefusedError('refusal', this.#refusal)
    // Providers ask to discard the text before the filter: it is no answer.
    if (reason === 'content-filter') throw this.#createRefusedError(raw, this.#content)
    // Gemini ends like this after a malformed tool call. The next attempt may be well-formed.
    if (reason === 'error') throw this.#createInterruptedError(`the model ended with ${raw}`)
    if (this.#content === '' && this.#calls.length === 0)
      throw this.#createError(`the model gave no answer (${raw})`)
    const [content, tokensUsed, calls] = [this.#content, this.#tokensUsed, this.#calls]
    return { content, tokensUsed, calls, reasoning: this.#reasoning.listSigned() }
  }

  #createInterruptedError(why: string, cause?: unknown): VfsError {
    const detail = `the answer broke off: ${why}`
    return new VfsError('EUNAVAILABLE', this.#path, { op: 'write', detail, cause })
  }

  #createRefusedError(reason: string, text: string): VfsError {
    const words = text === '' ? '' : `: ${text.slice(0, MAX_REFUSAL_CHARACTERS).toWellFormed()}`
    return this.#createError(`the model refused to answer (${reason})${words}`)
  }

  #createError(detail: string): VfsError {
    return new VfsError('EIO', this.#path, { op: 'write', detail })
  }
}

/** Chunks with the words of a refusal, which the SDK leaves out: of OpenAI in pieces, of Anthropic at the end. */
const refusalSchema = z.union([
  z
    .object({ choices: z.tuple([z.object({ delta: z.object({ refusal: z.string() }) })]) })
    .transform(({ choices: [{ delta }] }) => delta.refusal),
  z
    .object({ delta: z.object({ stop_details: z.object({ explanation: z.string() }) }) })
    .transform(({ delta }) => delta.stop_details.explanation),
])

function findRefusal(chunk: unknown): string {
  return refusalSchema.safeParse(chunk).data ?? ''
}

function toToolCallPart(part: Extract<TextStreamPart<ToolSet>, { type: 'tool-call' }>): ToolCallPart {
  const { toolCallId, toolName, input, providerMetadata } = part
  return {
    type: 'tool-call',
    toolCallId,
    toolName,
    input,
    ...(providerMetadata !== undefined && { providerOptions: providerMetadata }),
  }
}
