import type { AssistantModelMessage, ModelMessage, ToolCallPart, ToolModelMessage } from 'ai'
import type { ContextMessage } from '../../../kernel/index.ts'

type AssistantParts = Exclude<AssistantModelMessage['content'], string>

/** The calls of one answer, as a provider is to see them again: together, and then all that came of them. */
interface OpenAnswer {
  readonly parts: AssistantParts
  readonly results: ToolModelMessage['content']
}

/**
 * The tool calls a model made in one conversation. A context keeps their results but not the calls, which a provider
 * must see again, with whatever it signed them with, before it takes the results.
 */
export class ToolCallHistory {
  readonly #calls = new Map<string, ToolCallPart>()
  /** All calls of the answer that a call was made in. */
  readonly #answers = new Map<string, readonly ToolCallPart[]>()

  /** Adds the calls of one answer. */
  add(calls: readonly ToolCallPart[]): void {
    for (const call of calls) {
      this.#calls.set(call.toolCallId, call)
      this.#answers.set(call.toolCallId, calls)
    }
  }

  /** The conversation as the provider is to see it. What came of a call that is not known is told in words. */
  toMessages(messages: readonly ContextMessage[]): ModelMessage[] {
    const result: ModelMessage[] = []
    for (const message of messages) this.#append(result, message)
    return result
  }

  #append(result: ModelMessage[], { role, content, tool_call_id: id = '' }: ContextMessage): void {
    if (role === 'tool') this.#appendResult(result, id, content)
    // An empty text is refused by some, and says nothing to the others.
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
    const { parts, results } = this.#findOpenAnswer(result, id) ?? startAnswer(result)
    parts.push(call)
    const { toolCallId, toolName } = call
    results.push({ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: content } })
  }

  /** The end of the conversation, if it is what came of other calls of the answer that a call was made in. */
  #findOpenAnswer(result: readonly ModelMessage[], id: string): OpenAnswer | undefined {
    const [said, told] = result.slice(-2)
    if (said?.role !== 'assistant' || typeof said.content === 'string' || told?.role !== 'tool')
      return undefined
    const calls = this.#answers.get(id)
    const { content: parts } = said
    const isSame = calls?.some((call) => parts.includes(call)) === true
    return isSame ? { parts, results: told.content } : undefined
  }
}

function startAnswer(result: ModelMessage[]): OpenAnswer {
  const parts = getLastAssistantParts(result)
  const results: ToolModelMessage['content'] = []
  result.push({ role: 'tool', content: results })
  return { parts, results }
}

/** What the assistant said last, to be added to; a message of its own where somebody else spoke since. */
function getLastAssistantParts(result: ModelMessage[]): AssistantParts {
  const last = result.at(-1)
  if (last?.role === 'assistant' && typeof last.content !== 'string') return last.content
  const parts: AssistantParts = []
  result.push({ role: 'assistant', content: parts })
  return parts
}
