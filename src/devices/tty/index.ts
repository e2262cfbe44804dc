/**
 * `/dev/tty`: questions of processes to the person at a terminal.
 * The device asks; an attached frontend shows the questions and returns the answers.
 * Invariant: a question ends once: answered, timed out, or with the process that asked.
 */
export { type AskedQuestions, type Attachment, type Question, Tty, type TtyOptions } from './tty.ts'
export { ttyDevice } from './tty-device.ts'
