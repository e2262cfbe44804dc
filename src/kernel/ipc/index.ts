/**
 * What processes say to each other: messages, in the order they were sent, and pipes of bytes.
 * A receiver that has ended is told to the sender at once; a full pipe makes its writer wait.
 * Invariant: what was sent is a copy, and is never changed by its sender afterwards.
 */
export type { Message } from './message-queue.ts'
export { type IpcManager, Messages, type PipeDescriptors } from './messages.ts'
export { makePipe } from './pipe.ts'
