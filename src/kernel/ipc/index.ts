/**
 * What processes say to each other: messages, in the order they were sent, and pipes of bytes.
 * A receiver that has ended is told to the sender at once; a full pipe makes its writer wait.
 * Invariant: what was sent is a copy, and is never changed by its sender afterwards.
 */

export { Ipc, type IpcManager, type PipeDescriptors } from './ipc.ts'
export type { Message } from './message-queue.ts'
export { createPipe } from './pipe.ts'
