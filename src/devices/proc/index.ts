/**
 * `/proc`: the running processes as files with their state.
 * It reads the kernel's tables and changes nothing; the history of a process comes from its steps.
 * Invariant: an open file is a snapshot of the moment it was opened, and is read-only.
 */
export { procDevice } from './proc-device.ts'
