/**
 * Conversations with a model, each with a limited number of messages.
 * A context is allocated at spawn and freed at reap; threads and coroutines share that of their process.
 * Invariant: messages are in the order of the append calls, whichever thread made them.
 */
export type { ContextMessage, Prompt, Role } from './context.ts'
export { type ContextManager, Contexts } from './contexts.ts'
