/**
 * Communication between processes: ordered messages, and pipes of bytes.
 * Sending to an ended process fails at once; writing to a full pipe waits.
 * Invariant: a message is a copy; the sender cannot change it afterwards.
 */

export { Ipc, type IpcManager, type PipeDescriptors } from './ipc.ts'
export type { Message } from './message-queue.ts'
export { createPipe } from './pipe.ts'
