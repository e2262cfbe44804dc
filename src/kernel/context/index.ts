/**
 * Conversations: what a model is told and what it said, each bounded in its number of messages.
 * A context is allocated at spawn and freed at reap; threads and coroutines share that of their process.
 * Invariant: messages are in the order in which they were appended, whoever appended them.
 */
export type { ContextMessage, Prompt, Role } from './context.ts'
export { type ContextManager, Contexts } from './contexts.ts'
