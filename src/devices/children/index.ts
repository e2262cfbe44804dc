/**
 * `/dev/children`: what a process can do with others: wait for a child, take over its files, exchange messages.
 * The kernel starts children; this folder offers the rest as tools.
 * Invariant: a process waits for and merges its own children only.
 */
export { type ChildProcesses, childrenDevice, type ReceivedMessage } from './children-device.ts'
