import type { AssistantModelMessage, ModelMessage, ToolCallPart } from 'ai'
import type { ContextMessage } from '../../../kernel/index.ts'

type AssistantParts = Exclude<AssistantModelMessage['content'], string>

/**
 * The tool calls a model made in one conversation. A context keeps their results but not the calls, which a provider
 * must see again, with whatever it signed them with, before it takes the results.
 */
export class MadeCalls {
  readonly #calls = new Map<string, ToolCallPart>()

  add(call: ToolCallPart): void {
    this.#calls.set(call.toolCallId, call)
  }

  /** The conversation as the provider is to see it. What came of a call that is not known is told in words. */
  messages(messages: readonly ContextMessage[]): ModelMessage[] {
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
    lastAssistantParts(result).push(call)
    const { toolCallId, toolName } = call
    const output = { type: 'text', value: content } as const
    result.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] })
  }
}

/** What the assistant said last, to be added to; a message of its own where somebody else spoke since. */
function lastAssistantParts(result: ModelMessage[]): AssistantParts {
  const last = result.at(-1)
  if (last?.role === 'assistant' && typeof last.content !== 'string') return last.content
  const parts: AssistantParts = []
  result.push({ role: 'assistant', content: parts })
  return parts
}
