import { VfsError } from '../../vfs/index.ts'

export type Role = 'system' | 'user' | 'assistant' | 'tool'

export interface ContextMessage {
  readonly role: Role
  readonly content: string
  readonly tool_call_id?: string
}

/** All that is put before a model. */
export interface Prompt {
  readonly systemPrompt: string
  readonly messages: readonly ContextMessage[]
}

const roles: readonly Role[] = ['system', 'user', 'assistant', 'tool']
const SUMMARY_CHARACTERS = 200

/** One conversation: a system prompt, and messages up to a number. What several append comes in the order of the calls. */
export class Context {
  readonly size: number
  systemPrompt = ''
  readonly #messages: ContextMessage[] = []

  constructor(size: number) {
    this.size = size
  }

  get length(): number {
    return this.#messages.length
  }

  /** ENOSPC when it is full, EINVAL for a role there is not. */
  append(message: ContextMessage): void {
    if (!roles.includes(message.role)) throw createMessageError(`the role is one of ${roles.join(', ')}`)
    if (this.#messages.length >= this.size) {
      const detail = `the context holds ${this.size} messages and is full`
      throw new VfsError('ENOSPC', '/proc/context', { op: 'append', detail })
    }
    this.#messages.push({ ...message })
  }

  /** Appends a message at 0, else overwrites the one of that number, the first being 1. EINVAL. */
  write(offset: number, data: string): void {
    const message = parseMessage(data)
    if (offset === 0) {
      this.append(message)
      return
    }
    if (this.#messages[offset - 1] === undefined) throw createMessageError(`there is no message ${offset}`)
    this.#messages[offset - 1] = message
  }

  /** So many messages from one on, the first being 0, as JSON. */
  read(offset = 0, length: number = this.size): string {
    return JSON.stringify(this.#messages.slice(offset, offset + length))
  }

  /** Forgets the oldest messages but the first, which says what it is all about; how many. */
  dropOldest(count: number): number {
    return this.#messages.splice(1, count).length
  }

  buildPrompt(): Prompt {
    return { systemPrompt: this.systemPrompt, messages: [...this.#messages] }
  }

  /** A line for each message; what is not to be told is taken out first, since a part of it would not be known for it. */
  summarize(redact: (text: string) => string = (text) => text): string {
    const lines = this.#messages.map(({ role, content }) => `${role}: ${truncateText(redact(content))}`)
    return [`${this.#messages.length} of ${this.size} messages`, ...lines].join('\n')
  }
}

function parseMessage(data: string): ContextMessage {
  try {
    const { role, content, tool_call_id } = JSON.parse(data)
    if (roles.includes(role) && typeof content === 'string') {
      return { role, content, ...(typeof tool_call_id === 'string' && { tool_call_id }) }
    }
  } catch {
    // Told below, as any other message that is none.
  }
  throw createMessageError('a message is JSON with role and content')
}

function createMessageError(detail: string): VfsError {
  return new VfsError('EINVAL', '/proc/context', { op: 'context', detail })
}

function truncateText(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > SUMMARY_CHARACTERS ? `${line.slice(0, SUMMARY_CHARACTERS)}…` : line
}
