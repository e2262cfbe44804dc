import type { AssistantModelMessage, TextStreamPart, ToolSet } from 'ai'

/** A block of reasoning in a message of the model. */
export type ReasoningPart = Extract<
  Exclude<AssistantModelMessage['content'], string>[number],
  { type: 'reasoning' }
>

type ReasoningEvent = Extract<
  TextStreamPart<ToolSet>,
  { type: 'reasoning-start' | 'reasoning-delta' | 'reasoning-end' }
>

/** Reasoning of one response, collected from its stream. */
export class ReasoningBlocks {
  readonly #blocks = new Map<string, ReasoningPart>()

  add(event: ReasoningEvent): void {
    const block = this.#blocks.get(event.id) ?? { type: 'reasoning', text: '' }
    const text = event.type === 'reasoning-delta' ? block.text + event.text : block.text
    const { providerMetadata: providerOptions } = event
    this.#blocks.set(event.id, { ...block, text, ...(providerOptions && { providerOptions }) })
  }

  /** Lists the blocks with a signature. A provider that signs its reasoning expects it back with the calls. */
  listSigned(): readonly ReasoningPart[] {
    return [...this.#blocks.values()].filter(({ providerOptions }) => providerOptions !== undefined)
  }
}
