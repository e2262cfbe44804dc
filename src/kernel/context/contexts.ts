import { VfsError } from '../../vfs/index.ts'
import { Context, type ContextMessage, type Prompt, type Role } from './context.ts'

/** The contexts of all processes, by number. */
export interface ContextManager {
  ctxAlloc(size: number): number
  /** Frees a context. All calls with its number are ENOENT afterwards. */
  ctxFree(id: number): void
  setSystemPrompt(id: number, prompt: string): void
  appendMessage(id: number, role: Role, content: string): void
  appendToolResult(id: number, toolCallId: string, content: string): void
  ctxWrite(id: number, offset: number, data: string): void
  ctxRead(id: number, offset?: number, length?: number): string
  buildPrompt(id: number): Prompt
  /** `redact` is applied to every message before it is shortened. */
  getContextSummary(id: number, redact?: (text: string) => string): string
}

export class Contexts implements ContextManager {
  readonly #contexts = new Map<number, Context>()
  #next = 1

  /** Number of allocated contexts. */
  get count(): number {
    return this.#contexts.size
  }

  /** Allocates a context and returns its number. EINVAL if `size` is below 1. */
  ctxAlloc(size: number): number {
    if (!Number.isSafeInteger(size) || size < 1) {
      throw new VfsError('EINVAL', '/proc/context', {
        op: 'alloc',
        detail: 'a context holds at least one message',
      })
    }
    const id = this.#next++
    this.#contexts.set(id, new Context(size))
    return id
  }

  ctxFree(id: number): void {
    this.get(id)
    this.#contexts.delete(id)
  }

  /** Returns a context. ENOENT if it is not allocated. */
  get(id: number): Context {
    const context = this.#contexts.get(id)
    if (context !== undefined) return context
    throw new VfsError('ENOENT', '/proc/context', { op: 'context', detail: `there is no context ${id}` })
  }

  setSystemPrompt(id: number, prompt: string): void {
    this.get(id).systemPrompt = prompt
  }

  appendMessage(id: number, role: Role, content: string): void {
    this.get(id).append({ role, content })
  }

  appendToolResult(id: number, toolCallId: string, content: string): void {
    const message: ContextMessage = { role: 'tool', content, tool_call_id: toolCallId }
    this.get(id).append(message)
  }

  ctxWrite(id: number, offset: number, data: string): void {
    this.get(id).write(offset, data)
  }

  ctxRead(id: number, offset?: number, length?: number): string {
    return this.get(id).read(offset, length)
  }

  buildPrompt(id: number): Prompt {
    return this.get(id).buildPrompt()
  }

  getContextSummary(id: number, redact?: (text: string) => string): string {
    return this.get(id).summarize(redact)
  }
}
