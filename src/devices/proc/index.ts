/**
 * `/proc`: the processes there are, as files that say what they are and what they do.
 * It reads the kernel's tables and changes nothing; the past of a process comes from its steps.
 * Invariant: an open file says what was so when it was opened, and cannot be written.
 */
export { procDevice } from './proc-device.ts'
