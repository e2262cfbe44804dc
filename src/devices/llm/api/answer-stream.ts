import type { TextStreamPart, ToolCallPart, ToolSet } from 'ai'
import { VfsError } from '../../../vfs/index.ts'
import { toApiError } from './api-error.ts'

/** A complete model response. */
export interface StreamedAnswer {
  readonly content: string
  readonly tokensUsed: number
  /** Tool calls in order. */
  readonly calls: readonly ToolCallPart[]
}

/**
 * Reads a response stream to its end. EUNAVAILABLE if it breaks off, EIO if it is withheld or empty;
 * errors of the provider are converted by `toApiError`.
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
    throw state.failure(error)
  }
  return state.answer()
}

class AnswerState {
  readonly #path: string
  #content = ''
  readonly #calls: ToolCallPart[] = []
  #tokensUsed = 0
  #finish: string | undefined

  constructor(path: string) {
    this.#path = path
  }

  add(part: TextStreamPart<ToolSet>): void {
    switch (part.type) {
      case 'text-delta':
        this.#content += part.text
        return
      case 'tool-call':
        this.#calls.push(toToolCallPart(part))
        return
      case 'finish':
        // Without a raw reason, the SDK invented one for a stream that just ended.
        this.#finish = part.rawFinishReason === undefined ? undefined : part.finishReason
        this.#tokensUsed = part.totalUsage.totalTokens ?? 0
        return
      case 'error':
        throw part.error
    }
  }

  /** An error before the first output is a refusal; a later one is a broken stream. */
  failure(error: unknown): VfsError {
    return this.#hasBegun() ? this.#createInterruptedError(error) : toApiError(this.#path, error)
  }

  answer(): StreamedAnswer {
    const answer = { content: this.#content, tokensUsed: this.#tokensUsed, calls: this.#calls }
    if (this.#finish === undefined || this.#finish === 'error')
      throw this.#createInterruptedError('it has no end')
    if (this.#hasBegun()) return answer
    const why = this.#finish === 'content-filter' ? 'the provider withheld it' : this.#finish
    throw this.#createError(`the model gave no answer: ${why}`)
  }

  #hasBegun(): boolean {
    return this.#content !== '' || this.#calls.length > 0
  }

  #createInterruptedError(error: unknown): VfsError {
    const why = error instanceof Error ? error.message : String(error)
    const detail = `the answer broke off: ${why}`
    return new VfsError('EUNAVAILABLE', this.#path, { op: 'write', detail, cause: error })
  }

  #createError(detail: string): VfsError {
    return new VfsError('EIO', this.#path, { op: 'write', detail })
  }
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
