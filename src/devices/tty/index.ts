/**
 * `/dev/tty`: questions of processes to whoever sits at a terminal.
 * The device asks; who shows the questions and brings the answers is attached from outside.
 * Invariant: a question ends once: answered, out of time, or with the process that asked.
 */
export { type AskedQuestions, type Attachment, type Question, Tty, type TtyOptions } from './tty.ts'
export { ttyDevice } from './tty-device.ts'
