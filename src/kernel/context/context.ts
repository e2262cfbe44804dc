import { VfsError } from '../../vfs/index.ts'

/** Author of a message. */
export type Role = 'system' | 'user' | 'assistant' | 'tool'

/** A message of a conversation, as models receive it. */
export interface ContextMessage {
  readonly role: Role
  readonly content: string
  readonly tool_call_id?: string
}

/** The complete input of one model request. */
export interface Prompt {
  readonly systemPrompt: string
  readonly messages: readonly ContextMessage[]
}

const roles: readonly Role[] = ['system', 'user', 'assistant', 'tool']
const SUMMARY_CHARACTERS = 200

/** A conversation: a system prompt and a bounded number of messages, in the order of the `append` calls. */
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

  /** Appends a message. ENOSPC if the context is full, EINVAL for an unknown role. */
  append(message: ContextMessage): void {
    if (!roles.includes(message.role)) throw createMessageError(`the role must be one of ${roles.join(', ')}`)
    if (this.#messages.length >= this.size) {
      const detail = `the context holds ${this.size} messages and is full`
      throw new VfsError('ENOSPC', '/proc/context', { op: 'append', detail })
    }
    this.#messages.push({ ...message })
  }

  /** Appends a conversation. If it is too long for half of the context, only its task and its last messages stay. */
  fill(messages: readonly ContextMessage[]): void {
    const keptCount = Math.max(1, Math.floor(this.size / 2))
    const last = messages.slice(Math.max(1, messages.length - keptCount + 1))
    for (const message of [...messages.slice(0, 1), ...last]) this.append(message)
  }

  /** Appends at offset 0; otherwise overwrites message number `offset`, counted from 1. EINVAL if there is none. */
  write(offset: number, data: string): void {
    const message = parseMessage(data)
    if (offset === 0) {
      this.append(message)
      return
    }
    if (this.#messages[offset - 1] === undefined) throw createMessageError(`there is no message ${offset}`)
    this.#messages[offset - 1] = message
  }

  /** Returns up to `length` messages from `offset` (0-based) as JSON. */
  read(offset = 0, length: number = this.size): string {
    return JSON.stringify(this.#messages.slice(offset, offset + length))
  }

  /** Drops the oldest messages after the first, which states the task. Returns how many were dropped. */
  dropOldest(count: number): number {
    return this.#messages.splice(1, count).length
  }

  buildPrompt(): Prompt {
    return { systemPrompt: this.systemPrompt, messages: [...this.#messages] }
  }

  /** Returns one shortened line per message. Redacts first, because a truncated secret would not be recognised. */
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
    // The error below covers invalid JSON too.
  }
  throw createMessageError('a message must be JSON with role and content')
}

function createMessageError(detail: string): VfsError {
  return new VfsError('EINVAL', '/proc/context', { op: 'context', detail })
}

function truncateText(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > SUMMARY_CHARACTERS ? `${line.slice(0, SUMMARY_CHARACTERS)}…` : line
}
