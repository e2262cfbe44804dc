import type { AssistantModelMessage, ModelMessage, ToolCallPart, ToolModelMessage } from 'ai'
import type { ContextMessage } from '../../../kernel/index.ts'
import type { StreamedAnswer } from './answer-stream.ts'
import type { ReasoningPart } from './reasoning-blocks.ts'

type AssistantParts = Exclude<AssistantModelMessage['content'], string>

/** Tool calls of one response with their results: a provider expects all calls first, then all results. */
interface OpenAnswer {
  readonly parts: AssistantParts
  readonly results: ToolModelMessage['content']
}

/** The part of a response that is sent back with the results of its calls. */
type CalledAnswer = Pick<StreamedAnswer, 'calls' | 'reasoning'>

/**
 * The tool calls a model made in one conversation. A context stores the results without the calls, but a provider
 * accepts results only after their calls, with the signatures it put on them.
 */
export class ToolCallHistory {
  readonly #ids = new Set<string>()
  readonly #calls = new Map<string, ToolCallPart>()
  /** Maps each call to all calls of the same response, and to the reasoning before them. */
  readonly #answers = new Map<string, CalledAnswer>()

  /** Adds the calls of one response. Returns them with ids that are unique in the conversation. */
  add({ calls, reasoning }: CalledAnswer): readonly ToolCallPart[] {
    const unique = calls.map((call) => this.#reserveId(call))
    const sendable = unique.map(withObjectInput)
    for (const call of sendable) {
      this.#calls.set(call.toolCallId, call)
      this.#answers.set(call.toolCallId, { calls: sendable, reasoning })
    }
    return unique
  }

  /** Gives a call an id that is unique in the conversation: some servers count from one in each response. */
  #reserveId(call: ToolCallPart): ToolCallPart {
    let id = call.toolCallId
    for (let number = 2; this.#ids.has(id); number++) id = `${call.toolCallId}_${number}`
    this.#ids.add(id)
    return { ...call, toolCallId: id }
  }

  /**
   * Converts the conversation for the provider, without its system messages, which are sent apart. The result of an
   * unknown call becomes text.
   */
  toMessages(messages: readonly ContextMessage[]): ModelMessage[] {
    const result: ModelMessage[] = []
    for (const message of messages) this.#append(result, message)
    return result
  }

  #append(result: ModelMessage[], { role, content, tool_call_id: id = '' }: ContextMessage): void {
    if (role === 'tool') this.#appendResult(result, id, content)
    // Some providers refuse an empty text.
    else if (content === '') return
    else if (role === 'user') result.push({ role, content })
    else if (role === 'assistant') result.push({ role, content: [{ type: 'text', text: content }] })
  }

  #appendResult(result: ModelMessage[], id: string, content: string): void {
    const call = this.#calls.get(id)
    if (call === undefined) {
      result.push({ role: 'user', content: `The result of a tool call:\n${content}` })
      return
    }
    const { reasoning = [] } = this.#answers.get(id) ?? {}
    const { parts, results } = this.#findOpenAnswer(result, id) ?? startAnswer(result, reasoning)
    parts.push(call)
    const { toolCallId, toolName } = call
    results.push({ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: content } })
  }

  /** Returns the last response if the conversation ends with results of its other calls. */
  #findOpenAnswer(result: readonly ModelMessage[], id: string): OpenAnswer | undefined {
    const [assistant, results] = result.slice(-2)
    if (assistant?.role !== 'assistant' || typeof assistant.content === 'string' || results?.role !== 'tool')
      return undefined
    const { content: parts } = assistant
    const isSame = this.#answers.get(id)?.calls.some((call) => parts.includes(call)) === true
    return isSame ? { parts, results: results.content } : undefined
  }
}

/** Replaces arguments that are no object by `{}`: providers refuse them. The result of the call quotes them. */
function withObjectInput(call: ToolCallPart): ToolCallPart {
  const { input } = call
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  return isObject ? call : { ...call, input: {} }
}

/** Adds a response to the conversation, with its reasoning before its text, and an empty list of results. */
function startAnswer(result: ModelMessage[], reasoning: readonly ReasoningPart[]): OpenAnswer {
  const parts = openAssistantParts(result)
  parts.unshift(...reasoning)
  const results: ToolModelMessage['content'] = []
  result.push({ role: 'tool', content: results })
  return { parts, results }
}

/** Returns the last assistant message to append to, or adds a new one if another role spoke since. */
function openAssistantParts(result: ModelMessage[]): AssistantParts {
  const last = result.at(-1)
  if (last?.role === 'assistant' && typeof last.content !== 'string') return last.content
  const parts: AssistantParts = []
  result.push({ role: 'assistant', content: parts })
  return parts
}
