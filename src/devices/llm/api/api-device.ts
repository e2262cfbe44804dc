import type { LanguageModel, ToolSet } from 'ai'
import type { Device, ModelRequest, ModelResponse } from '../../../kernel/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { modelDevice } from '../request/model-device.ts'
import { readAnswerStream, type StreamedAnswer } from './answer-stream.ts'
import { installedSdk, type SdkPackages } from './sdk.ts'
import { ToolCallHistory } from './tool-call-history.ts'

/** Options that all APIs share. */
export interface ApiOptions {
  /** Model for requests that name none. */
  readonly model?: string
  /** Longest response in tokens; the provider's limit when absent. */
  readonly maxOutputTokens?: number
  /** Maximum retries after a transient failure; 2 when absent. */
  readonly maxRetries?: number
  /** SDK packages to use in place of the installed ones. */
  readonly sdk?: SdkPackages
}

/** Calls are read as a whole. Streamed arguments would not be checked by Anthropic, and gateways refuse the option. */
const PROVIDER_OPTIONS = { anthropic: { toolStreaming: false } }

/** Creates the model of a name. EACCES without an API key, ENOTSUP if a package is not installed. */
export type CreateModel = (name: string) => Promise<LanguageModel>

/** Creates a device for a model behind an HTTP API. Responses are streamed, so cancelling ends them at once. */
export function apiDevice(path: string, options: ApiOptions, createModel: CreateModel): Device {
  return modelDevice(path, () => {
    const conversation = new Conversation(path, options, createModel)
    return (request, signal, onText) => conversation.answer(request, signal, onText)
  })
}

class Conversation {
  readonly #path: string
  readonly #options: ApiOptions
  readonly #createModel: CreateModel
  readonly #calls = new ToolCallHistory()

  constructor(path: string, options: ApiOptions, createModel: CreateModel) {
    this.#path = path
    this.#options = options
    this.#createModel = createModel
  }

  async answer(
    request: ModelRequest,
    signal: AbortSignal,
    onText: (text: string) => void,
  ): Promise<ModelResponse> {
    const answer = await this.#streamAnswer(request, signal, onText)
    const { content, tokensUsed: tokens_used } = answer
    if (answer.calls.length === 0) return { content, tokens_used }
    const calls = this.#calls.add(answer)
    const tool_calls = calls.map(({ toolCallId: id, toolName: name, input }) => ({ id, name, input }))
    return { content, tokens_used, tool_calls }
  }

  async #streamAnswer(
    request: ModelRequest,
    abortSignal: AbortSignal,
    onText: (text: string) => void,
  ): Promise<StreamedAnswer> {
    const { sdk = installedSdk, maxOutputTokens, maxRetries = 2 } = this.#options
    const model = await this.#createModel(resolveModelName(this.#path, request, this.#options))
    const ai = await sdk.ai()
    // The SDK would print its warnings.
    globalThis.AI_SDK_LOG_WARNINGS ??= false
    const system = formatSystemPrompt(request)
    const { fullStream } = ai.streamText({
      model,
      messages: this.#calls.toMessages(request.messages),
      maxRetries,
      abortSignal,
      // The SDK passes on the words of a refusal in raw chunks only.
      includeRawChunks: true,
      providerOptions: PROVIDER_OPTIONS,
      onError: () => {},
      ...(system !== '' && { system }),
      ...(request.tools.length > 0 && { tools: createToolSet(ai, request) }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    })
    return readAnswerStream(this.#path, fullStream, onText)
  }
}

/** Builds tools without an execute function: the kernel carries out the calls. */
function createToolSet({ tool, jsonSchema }: typeof import('ai'), { tools }: ModelRequest): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, input_schema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(input_schema) }),
    ]),
  )
}

/** Joins all system messages into one: some providers reject them in the middle of a conversation. */
function formatSystemPrompt({ system_prompt, messages }: ModelRequest): string {
  const others = messages.flatMap(({ role, content }) => (role === 'system' ? [content] : []))
  return [system_prompt, ...others].filter((text) => text !== '').join('\n\n')
}

function resolveModelName(path: string, { model }: ModelRequest, options: ApiOptions): string {
  const name = model === '' ? options.model : model
  if (name !== undefined && name !== '') return name
  const detail = 'no model is named; name one with --model, or with models.preferred of the agent'
  throw new VfsError('EINVAL', path, { op: 'write', detail })
}
